import type { ProcessEnd } from '../child';

/** A part of the service while its process runs. */
export interface RunningPart {
  pid: number;
  exited: Promise<ProcessEnd>;
  /** When it could do its work, by `performance.now()`; `undefined` until then. Absent: as soon as it was started. */
  servingSince?(): number | undefined;
  /** Ends it in order, by force after `graceMs`; resolves when it has ended. */
  stop(graceMs: number): Promise<void>;
}

/** Something that runs as a process of its own and can be started again. */
export interface Part {
  name: string;
  start(): Promise<RunningPart>;
}

/** A process that ends with this has a wrong configuration: starting it again would change nothing. */
export const configurationErrorExitCode = 2;
