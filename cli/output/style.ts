const codes = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const;

export type Colour = keyof typeof codes;
export type Style = (colour: Colour, text: string) => string;

interface Terminal {
  isTTY?: boolean;
}

/** Colours on terminals only, and not where `NO_COLOR` is set. */
export const styleFor = ({ isTTY }: Terminal, environment: Record<string, string | undefined>): Style =>
  isTTY === true && !environment.NO_COLOR
    ? (colour, text) => `\u001b[${codes[colour]}m${text}\u001b[0m`
    : (_, text) => text;

const colours: Record<string, Colour> = {
  done: 'green',
  success: 'green',
  accepted: 'green',
  completed: 'green',
  ok: 'green',
  running: 'cyan',
  'in-progress': 'cyan',
  queued: 'yellow',
  blocked: 'yellow',
  pending: 'yellow',
  partial: 'yellow',
  failed: 'red',
  interrupted: 'red',
  cancelled: 'red',
};

/** A state in its colour. */
export const stateStyle = (style: Style, state: string): string => {
  const colour = colours[state];
  return colour === undefined ? state : style(colour, state);
};
