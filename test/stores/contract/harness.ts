import type { Database } from '../../../stores/port/collection';

export interface StoreHarness {
  /**
   * Opens one more connection to the one store of this run of the contract; the contract closes it.
   *
   * @param options.sweepEveryMs how often expired documents are removed
   */
  open: (options?: { sweepEveryMs?: number }) => Promise<Database>;
  /**
   * False for the MongoDB stand-in in memory: it changes atomically, but its result of `findOneAndUpdate` may
   * already show the next writer's change.
   */
  answersOwnResult: boolean;
}

let names = 0;

/** A collection or log name that no other test of this run has. */
export function uniqueName(): string {
  names += 1;
  return `things-${process.pid}-${Date.now()}-${names}`;
}

/** Opens two connections for a `describe` block and closes them after it. */
export function useTwoConnections(harness: StoreHarness): { readonly one: Database; readonly other: Database } {
  let open: [Database, Database];
  beforeAll(async () => {
    open = await Promise.all([harness.open(), harness.open()]);
  });
  afterAll(async () => {
    await Promise.all(open.map((database) => database.close()));
  });
  return {
    get one() {
      return open[0];
    },
    get other() {
      return open[1];
    },
  };
}
