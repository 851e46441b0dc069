import type Router from '@koa/router';
import type { Context } from 'koa';
import type { Catalog, Index } from '../engine/catalog';
import type { Field } from '../engine/field';
import { QueryError } from '../query/errors';
import type { QueryLimits } from '../query/limits';
import { courseOf, type Slices, TooManyQueriesError } from '../query/slices';
import type { Steps } from '../steps';
import type { Store } from '../storage/store';
import type { Threads } from '../threads/threads';
import type { Metrics } from './metrics';
import { Refusal } from './reply';

/** What routes work with. */
export interface ServerContext {
  store: Store;
  metrics: Metrics;
  /** Count what takes long; absent: the main thread does everything. */
  threads?: Threads;
  /** Largest body of a request, in bytes. */
  bodyLimit: number;
  /** Long queries take turns here. */
  slices: Slices;
  limits: QueryLimits;
}

export type Routes = (router: Router, context: ServerContext) => void;

export const catalogOf = ({ store }: ServerContext): Catalog => store.catalog;

/** A path parameter. */
export const param = (ctx: Context, name: string): string =>
  (ctx.params as Record<string, string | undefined>)[name] ?? '';

type Form = Refusal['form'];

/** @throws Refusal in the form of the call's errors */
export function findIndex(
  catalog: Catalog,
  name: string,
  { form, status = 404, message = 'index not found' }: { form: Form; status?: number; message?: string },
): Index {
  const index = catalog.indexes.get(name);
  if (!index) {
    throw new Refusal(status, message, { form });
  }
  if (index.damage) {
    throw new Refusal(503, `index ${name} is out of service: ${index.damage.reason}`, { form });
  }
  return index;
}

export function findField(
  index: Index,
  name: string,
  { form, message = 'field not found' }: { form: Form; message?: string },
): Field {
  const field = index.fields.get(name);
  if (!field) {
    throw new Refusal(404, message, { form });
  }
  if (field.damage) {
    throw new Refusal(503, `field ${name} is out of service: ${field.damage.reason}`, { form });
  }
  return field;
}

/** Does long work for a request, while others are served. @throws Refusal 429 or 503 when there is too much of it */
export async function inSlices<T>({ slices, limits }: ServerContext, steps: Steps<T>): Promise<T> {
  try {
    return await slices.run(steps, courseOf(limits.ms, true));
  } catch (error) {
    if (!(error instanceof QueryError)) {
      throw error;
    }
    throw new Refusal(error instanceof TooManyQueriesError ? 429 : 503, error.message, { form: 'error' });
  }
}
