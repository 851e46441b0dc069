const colours = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const;

/** Writes the demo's lines: elapsed time, a mark and a text; colours only on a terminal. */
export class Terminal {
  private readonly startedAt = performance.now();
  private readonly coloured = process.stdout.isTTY && process.env.NO_COLOR === undefined;

  paint(colour: keyof typeof colours, text: string): string {
    return this.coloured ? `\u001b[${colours[colour]}m${text}\u001b[0m` : text;
  }

  line(text = ''): void {
    process.stdout.write(`${text}\n`);
  }

  title(text: string): void {
    this.line(`\n${this.paint('bold', text)}`);
  }

  /** One thing that happened, with the seconds since the demo began. */
  step(mark: string, text: string, colour: keyof typeof colours = 'cyan'): void {
    const seconds = ((performance.now() - this.startedAt) / 1000).toFixed(1).padStart(6);
    this.line(`${this.paint('dim', `${seconds}s`)}  ${this.paint(colour, mark)}  ${text}`);
  }

  rows(rows: [name: string, value: string][]): void {
    for (const [name, value] of rows) {
      this.line(`  ${this.paint('dim', name.padEnd(14))} ${value}`);
    }
  }
}
