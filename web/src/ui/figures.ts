const whole = new Intl.NumberFormat();
const compact = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 });

/** Tokens with their unit: `12.4K tokens`. */
export const tokens = (count: number): string =>
  `${count < 10_000 ? whole.format(count) : compact.format(count)} tokens`;

/** An amount in US dollars; small ones with four places. */
export const money = (amount: number): string =>
  `$${amount !== 0 && Math.abs(amount) < 0.1 ? amount.toFixed(4) : amount.toFixed(2)}`;

export const number = (value: number): string => whole.format(value);

const byteUnits = ['KiB', 'MiB', 'GiB', 'TiB'] as const;

/** Bytes with their unit: `1.4 MiB`. */
export function bytes(count: number): string {
  if (count < 1024) {
    return `${count} B`;
  }
  const power = Math.min(Math.floor(Math.log(count) / Math.log(1024)), byteUnits.length);
  return `${(count / 1024 ** power).toFixed(1)} ${byteUnits[power - 1]}`;
}

export const percent = (share: number): string => `${Math.round(share * 100)} %`;

/** What is left of an id when its kind and its day are taken off. */
export const shortId = (id: string): string => id.replace(/^(?:task|attempt|runapproval)_(?:\d{8}_)?/, '').slice(0, 10);

/** `1 file`, `2 files`. */
export const count = (amount: number, noun: string, plural = `${noun}s`): string =>
  `${whole.format(amount)} ${amount === 1 ? noun : plural}`;
