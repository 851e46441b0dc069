/**
 * Calls local activities one after the other. Those that run at the same time end one by one, but in a replay all at once: what is
 * done after one and before the next would be another sequence of commands then, and the replay would fail.
 */
export function oneAtATime<T extends object>(activities: T): T {
  let last: Promise<unknown> = Promise.resolve();
  return new Proxy(activities, {
    get:
      (target, name) =>
      (...args: unknown[]): Promise<unknown> => {
        const call = (target as Record<PropertyKey, (...args: unknown[]) => Promise<unknown>>)[name];
        const result = last.then(() => call?.(...args));
        last = result.catch(() => undefined);
        return result;
      },
  });
}
