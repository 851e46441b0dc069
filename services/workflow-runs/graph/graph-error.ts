/** The text is no graph; the message is for the person who wrote it. */
export class GraphError extends Error {
  override readonly name = 'GraphError';

  constructor(readonly problems: readonly string[]) {
    super(problems.join(' '));
  }
}
