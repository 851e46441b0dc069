import { compiledScript } from '../../../platform/processes/compiled-script';
import { refuse } from '../http/errors';
import { createBoundedThreads, ThreadsBusyError, WorkGivenUpError } from '../threads/bounded-threads';
import type { Checked, ToCheck } from './schema-thread';

/** A text that fits its schema, as its value; or what is wrong with it. */
export type Fit = { value: unknown } | { problems: readonly string[] };

/** Checks JSON against the JSON schemas of callers, in threads: a schema may be made to take for ever. */
export interface SchemaChecker {
  /**
   * @throws AppError 422 for what is no schema, names one that is elsewhere, or takes too long; 429 when too many are checked
   */
  assertSchema(schema: object): Promise<void>;
  /** @throws AppError as `assertSchema` */
  check(schema: object, text: string): Promise<Fit>;
  close(): Promise<void>;
}

export interface SchemaCheckerOptions {
  /** How long one check may take, in milliseconds. */
  withinMs?: number;
  /** How many checks are made at a time, and how many wait. */
  threads?: number;
  waiting?: number;
}

export function createSchemaChecker({
  withinMs = 15_000,
  threads = 2,
  waiting = 50,
}: SchemaCheckerOptions = {}): SchemaChecker {
  const script = compiledScript(__dirname, 'schema-thread.js');
  const checkers = createBoundedThreads<ToCheck, Checked>({ script, withinMs, threads, waiting });

  async function run(work: ToCheck): Promise<Exclude<Checked, { wrongSchema: string }>> {
    const checked = await checkers.run(work).catch((error: unknown) => {
      if (error instanceof ThreadsBusyError) {
        throw refuse(429, 'Too many schemas are being checked. Try again.');
      }
      throw error instanceof WorkGivenUpError ? refuse(422, `schema: cannot be checked: ${error.message}`) : error;
    });
    if ('wrongSchema' in checked) {
      throw refuse(422, `schema: ${checked.wrongSchema}`);
    }
    return checked;
  }

  return {
    async assertSchema(schema) {
      await run({ schema });
    },
    async check(schema, text) {
      const checked = await run({ schema, text });
      return 'problems' in checked ? checked : { value: checked.value };
    },
    close: () => checkers.close(),
  };
}
