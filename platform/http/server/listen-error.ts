/** The port is taken, or may not be listened on. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
}

export interface ListenAddress {
  host: string;
  /** 0 takes a free port. */
  port: number;
  /** The setting the port comes from, for the error when it is taken. */
  setting?: string;
}

/** Of an address that the system could not find, or that is of another machine. */
const foreign: ReadonlySet<string | undefined> = new Set([
  'EADDRNOTAVAIL',
  'EAFNOSUPPORT',
  'EAI_AGAIN',
  'EAI_FAIL',
  'EINVAL',
  'ENOTFOUND',
]);

/** What to do about an address that could not be listened on; the error itself where nothing is known about it. */
export function explainListenError(error: NodeJS.ErrnoException, { host, port, setting }: ListenAddress): Error {
  if (error.code === 'EADDRINUSE') {
    const choose = setting === undefined ? '.' : `, or choose another with ${setting} (0 takes a free one).`;
    return new ListenError(`Port ${port} on ${host} is in use. Stop what listens there${choose}`);
  }
  if (error.code === 'EACCES') {
    return new ListenError(`This user is not permitted to listen on port ${port} of ${host}.`);
  }
  if (foreign.has(error.code)) {
    return new ListenError(
      `${host} is not an address of this machine. Set BOARD_HOST to one that is, or to 0.0.0.0 for all of them.`,
    );
  }
  return error;
}
