/** A query that cannot be executed; its message is for the caller. Its status is 400. */
export class QueryError extends Error {
  override readonly name = 'QueryError';
}

const place = (text: string, at: number): string => {
  const before = text.slice(0, at);
  const line = before.split('\n').length;
  return `line ${line}, column ${at - before.lastIndexOf('\n')}`;
};

/** Text that is not a query. */
export const parseError = (message: string, text: string, at: number): QueryError =>
  new QueryError(`parsing: ${message} (${place(text, at)})`);

/** A call that cannot be executed; `at` becomes a line and a column where the text is known. */
export class CallError extends Error {
  override readonly name = 'CallError';

  constructor(
    message: string,
    readonly at: number,
  ) {
    super(message);
  }

  within(text: string): QueryError {
    return new QueryError(`executing: ${this.message} (${place(text, this.at)})`);
  }
}
