import type { Collection, Database, Stored } from '../../stores/port/collection';

type Method = 'insert' | 'get' | 'find' | 'findOneAndUpdate' | 'updateMany' | 'deleteMany';

interface Step {
  collection: string;
  method: Method;
  when: 'before' | 'after';
  act: () => unknown;
}

/** A database between whose steps a test can let other things happen, once each. */
export interface Interleaving extends Database {
  /** The next call of the method on the collection lets `act` run first; a rejection stands for a crash before it. */
  before(collection: string, method: Method, act: () => unknown): void;
  /** The same after it; a rejection stands for a crash whose step was done. */
  after(collection: string, method: Method, act: () => unknown): void;
  /** Whether everything that was to happen between steps has happened. */
  readonly isThrough: boolean;
}

const methods = ['insert', 'get', 'find', 'findOneAndUpdate', 'updateMany', 'deleteMany'] as const;

/** Thrown from between two steps for the end of the process there. */
export class Crash extends Error {}
export const crash = (): Promise<never> => Promise.reject(new Crash('crashed here'));

export function interleaving(database: Database): Interleaving {
  const steps: Step[] = [];
  async function run(collection: string, method: Method, when: Step['when']): Promise<void> {
    const at = steps.findIndex(
      (step) => step.collection === collection && step.method === method && step.when === when,
    );
    // Taken out before it acts: what it does may make the same call.
    const [step] = at < 0 ? [] : steps.splice(at, 1);
    await step?.act();
  }
  const collection = async <T extends Stored>(spec: Parameters<Database['collection']>[0]): Promise<Collection<T>> => {
    const opened = await database.collection<T>(spec);
    const wrapped = methods.map((method) => [
      method,
      async (...args: unknown[]) => {
        await run(spec.name, method, 'before');
        const result = await (opened[method] as (...given: unknown[]) => Promise<unknown>).call(opened, ...args);
        await run(spec.name, method, 'after');
        return result;
      },
    ]);
    return Object.assign(Object.create(opened) as Collection<T>, Object.fromEntries(wrapped) as Partial<Collection<T>>);
  };
  return Object.assign(Object.create(database) as Database, {
    collection,
    before: (name: string, method: Method, act: () => unknown) =>
      void steps.push({ collection: name, method, when: 'before', act }),
    after: (name: string, method: Method, act: () => unknown) =>
      void steps.push({ collection: name, method, when: 'after', act }),
    get isThrough() {
      return steps.length === 0;
    },
  });
}
