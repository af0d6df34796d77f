interface FieldProps {
  readonly label: string
  readonly value: string
  readonly onValue: (value: string) => void
  readonly isOptional?: boolean
  readonly maxLength?: number
  readonly type?: 'text' | 'date' | 'datetime-local'
  readonly isDecimal?: boolean
  /** Suggestions. */
  readonly choices?: readonly string[]
}

/** A line of text with its label. */
export function Field({ label, value, onValue, isOptional, maxLength, type, isDecimal, choices }: FieldProps) {
  const listId = choices === undefined ? undefined : `${label.replaceAll(/\W/g, '-')}-choices`
  return (
    <label>
      {label}
      <input
        type={type ?? 'text'}
        required={isOptional !== true}
        autocomplete="off"
        spellcheck={false}
        value={value}
        list={listId}
        {...(maxLength === undefined ? {} : { maxLength })}
        {...(isDecimal === true
          ? { inputMode: 'decimal', pattern: '[0-9]+([.][0-9]+)?', title: 'A number such as 12.50' }
          : {})}
        onInput={({ currentTarget }) => onValue(currentTarget.value)}
      />
      {choices !== undefined && (
        <datalist id={listId}>
          {choices.map((choice) => (
            <option key={choice} value={choice} />
          ))}
        </datalist>
      )}
    </label>
  )
}

interface ChoiceProps {
  readonly label: string
  readonly value: string
  readonly onValue: (value: string) => void
  /** Values, each with its text. */
  readonly choices: readonly (readonly [value: string, text: string])[]
}

export function Choice({ label, value, onValue, choices }: ChoiceProps) {
  return (
    <label>
      {label}
      <select value={value} onChange={({ currentTarget }) => onValue(currentTarget.value)}>
        {choices.map(([one, text]) => (
          <option key={one} value={one}>
            {text}
          </option>
        ))}
      </select>
    </label>
  )
}
