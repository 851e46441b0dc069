const locks = new Map<string, Promise<unknown>>();

/**
 * Does work under the same key one after another in this process. A try that timed out at the server without a heartbeat may
 * still be at work when the next one comes.
 */
export async function runExclusive<T>(key: string, work: () => Promise<T>): Promise<T> {
  const current = (locks.get(key) ?? Promise.resolve()).then(work);
  // The next one begins however this one ends.
  const settled = current.catch(() => undefined);
  locks.set(key, settled);
  try {
    return await current;
  } finally {
    if (locks.get(key) === settled) {
      locks.delete(key);
    }
  }
}
