/** How much is shown of what an agent wrote last, in lines and characters. */
const limits = { lines: 5, characters: 1_000 } as const;

/** The last lines of a stream: why an agent failed is most often there. */
export class LastWords {
  private readonly lines: string[] = [];

  /** @param line without secrets */
  add(line: string): void {
    // The end of a long line has more to it than its beginning: `Error: …` stands behind its context.
    const words = line.trim().slice(-limits.characters);
    if (words === '') {
      return;
    }
    this.lines.push(words);
    if (this.lines.length > limits.lines) {
      this.lines.shift();
    }
  }

  get text(): string {
    return this.lines.join('\n').slice(-limits.characters);
  }
}

/** How an agent ended, with its last words where it had some; `causeOf` finds the most specific line of them. */
export const withLastWords = (how: string, lastWords: string): string =>
  lastWords === '' ? how : `${how} Its last words: ${lastWords}`;
