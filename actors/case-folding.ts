/**
 * Default case folding (The Unicode Standard, 3.13, toCasefold): statuses C and F of CaseFolding.txt of Unicode 17.0.0
 * (https://www.unicode.org/Public/17.0.0/ucd/CaseFolding.txt, Unicode License v3). The table is part of the
 * source because names are looked up by their folded form: nodes whose engines differ in Unicode version must agree.
 */

/** Runs of code points, hexadecimal: first, last, an optional step of 2, and the distance to the folded code point. */
const COMMON = `
  41-5a+20 b5+307 c0-d6+20 d8-de+20 100-12e/2+1 132-136/2+1 139-147/2+1 14a-176/2+1 178-79 179-17d/2+1 17f-10c
  181+d2 182-184/2+1 186+ce 187+1 189-18a+cd 18b+1 18e+4f 18f+ca 190+cb 191+1 193+cd 194+cf 196+d3 197+d1 198+1
  19c+d3 19d+d5 19f+d6 1a0-1a4/2+1 1a6+da 1a7+1 1a9+da 1ac+1 1ae+da 1af+1 1b1-1b2+d9 1b3-1b5/2+1 1b7+db 1b8+1
  1bc+1 1c4+2 1c5+1 1c7+2 1c8+1 1ca+2 1cb-1db/2+1 1de-1ee/2+1 1f1+2 1f2-1f4/2+1 1f6-61 1f7-38 1f8-21e/2+1 220-82
  222-232/2+1 23a+2a2b 23b+1 23d-a3 23e+2a28 241+1 243-c3 244+45 245+47 246-24e/2+1 345+74 370-372/2+1 376+1
  37f+74 386+26 388-38a+25 38c+40 38e-38f+3f 391-3a1+20 3a3-3ab+20 3c2+1 3cf+8 3d0-1e 3d1-19 3d5-f 3d6-16
  3d8-3ee/2+1 3f0-36 3f1-30 3f4-3c 3f5-40 3f7+1 3f9-7 3fa+1 3fd-3ff-82 400-40f+50 410-42f+20 460-480/2+1
  48a-4be/2+1 4c0+f 4c1-4cd/2+1 4d0-52e/2+1 531-556+30 10a0-10c5+1c60 10c7+1c60 10cd+1c60 13f8-13fd-8 1c80-184e
  1c81-184d 1c82-1844 1c83-1c84-1842 1c85-1843 1c86-183c 1c87-1824 1c88+89c3 1c89+1 1c90-1cba-bc0 1cbd-1cbf-bc0
  1e00-1e94/2+1 1e9b-3a 1ea0-1efe/2+1 1f08-1f0f-8 1f18-1f1d-8 1f28-1f2f-8 1f38-1f3f-8 1f48-1f4d-8 1f59-1f5f/2-8
  1f68-1f6f-8 1fb8-1fb9-8 1fba-1fbb-4a 1fbe-1c05 1fc8-1fcb-56 1fd8-1fd9-8 1fda-1fdb-64 1fe8-1fe9-8 1fea-1feb-70
  1fec-7 1ff8-1ff9-80 1ffa-1ffb-7e 2126-1d5d 212a-20bf 212b-2046 2132+1c 2160-216f+10 2183+1 24b6-24cf+1a
  2c00-2c2f+30 2c60+1 2c62-29f7 2c63-ee6 2c64-29e7 2c67-2c6b/2+1 2c6d-2a1c 2c6e-29fd 2c6f-2a1f 2c70-2a1e 2c72+1
  2c75+1 2c7e-2c7f-2a3f 2c80-2ce2/2+1 2ceb-2ced/2+1 2cf2+1 a640-a66c/2+1 a680-a69a/2+1 a722-a72e/2+1 a732-a76e/2+1
  a779-a77b/2+1 a77d-8a04 a77e-a786/2+1 a78b+1 a78d-a528 a790-a792/2+1 a796-a7a8/2+1 a7aa-a544 a7ab-a54f a7ac-a54b
  a7ad-a541 a7ae-a544 a7b0-a512 a7b1-a52a a7b2-a515 a7b3+3a0 a7b4-a7c2/2+1 a7c4-30 a7c5-a543 a7c6-8a38
  a7c7-a7c9/2+1 a7cb-a567 a7cc-a7da/2+1 a7dc-a641 a7f5+1 ab70-abbf-97d0 ff21-ff3a+20 10400-10427+28 104b0-104d3+28
  10570-1057a+27 1057c-1058a+27 1058c-10592+27 10594-10595+27 10c80-10cb2+40 10d50-10d65+20 118a0-118bf+20
  16e40-16e5f+20 16ea0-16eb8+1b 1e900-1e921+22`

/** Code points that fold to more than one. */
const FULL = `
  df=73_73 130=69_307 149=2bc_6e 1f0=6a_30c 390=3b9_308_301 3b0=3c5_308_301 587=565_582 1e96=68_331 1e97=74_308
  1e98=77_30a 1e99=79_30a 1e9a=61_2be 1e9e=73_73 1f50=3c5_313 1f52=3c5_313_300 1f54=3c5_313_301 1f56=3c5_313_342
  1f80=1f00_3b9 1f81=1f01_3b9 1f82=1f02_3b9 1f83=1f03_3b9 1f84=1f04_3b9 1f85=1f05_3b9 1f86=1f06_3b9 1f87=1f07_3b9
  1f88=1f00_3b9 1f89=1f01_3b9 1f8a=1f02_3b9 1f8b=1f03_3b9 1f8c=1f04_3b9 1f8d=1f05_3b9 1f8e=1f06_3b9 1f8f=1f07_3b9
  1f90=1f20_3b9 1f91=1f21_3b9 1f92=1f22_3b9 1f93=1f23_3b9 1f94=1f24_3b9 1f95=1f25_3b9 1f96=1f26_3b9 1f97=1f27_3b9
  1f98=1f20_3b9 1f99=1f21_3b9 1f9a=1f22_3b9 1f9b=1f23_3b9 1f9c=1f24_3b9 1f9d=1f25_3b9 1f9e=1f26_3b9 1f9f=1f27_3b9
  1fa0=1f60_3b9 1fa1=1f61_3b9 1fa2=1f62_3b9 1fa3=1f63_3b9 1fa4=1f64_3b9 1fa5=1f65_3b9 1fa6=1f66_3b9 1fa7=1f67_3b9
  1fa8=1f60_3b9 1fa9=1f61_3b9 1faa=1f62_3b9 1fab=1f63_3b9 1fac=1f64_3b9 1fad=1f65_3b9 1fae=1f66_3b9 1faf=1f67_3b9
  1fb2=1f70_3b9 1fb3=3b1_3b9 1fb4=3ac_3b9 1fb6=3b1_342 1fb7=3b1_342_3b9 1fbc=3b1_3b9 1fc2=1f74_3b9 1fc3=3b7_3b9
  1fc4=3ae_3b9 1fc6=3b7_342 1fc7=3b7_342_3b9 1fcc=3b7_3b9 1fd2=3b9_308_300 1fd3=3b9_308_301 1fd6=3b9_342
  1fd7=3b9_308_342 1fe2=3c5_308_300 1fe3=3c5_308_301 1fe4=3c1_313 1fe6=3c5_342 1fe7=3c5_308_342 1ff2=1f7c_3b9
  1ff3=3c9_3b9 1ff4=3ce_3b9 1ff6=3c9_342 1ff7=3c9_342_3b9 1ffc=3c9_3b9 fb00=66_66 fb01=66_69 fb02=66_6c
  fb03=66_66_69 fb04=66_66_6c fb05=73_74 fb06=73_74 fb13=574_576 fb14=574_565 fb15=574_56b fb16=57e_576
  fb17=574_56d`

const RUN = /^([0-9a-f]+)(?:-([0-9a-f]+)(\/2)?)?([+-][0-9a-f]+)$/

const FOLDED: ReadonlyMap<string, string> = new Map([
  ...COMMON.trim().split(/\s+/).flatMap(pairsOf),
  ...FULL.trim().split(/\s+/).map(pairOf),
])

export function foldCase(text: string): string {
  let folded = ''
  for (const character of text) folded += FOLDED.get(character) ?? character
  return folded
}

function pairsOf(run: string): readonly (readonly [string, string])[] {
  const [, start = '', end = start, two, distance = ''] = RUN.exec(run) ?? []
  const [first, last, step] = [hexadecimal(start), hexadecimal(end), two === undefined ? 1 : 2]
  return Array.from({ length: (last - first) / step + 1 }, (_, index) => {
    const codePoint = first + index * step
    return [String.fromCodePoint(codePoint), String.fromCodePoint(codePoint + hexadecimal(distance))]
  })
}

function pairOf(entry: string): readonly [string, string] {
  const [codePoint = '', folded = ''] = entry.split('=')
  return [String.fromCodePoint(hexadecimal(codePoint)), String.fromCodePoint(...folded.split('_').map(hexadecimal))]
}

function hexadecimal(digits: string): number {
  return Number.parseInt(digits, 16)
}
