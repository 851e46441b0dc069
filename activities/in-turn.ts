const turns = new Map<string, Promise<unknown>>();

/**
 * Does work under the same key one after another in this process. A try that the server has given up, because it heard
 * nothing of it for too long, may still be at work when the next one comes.
 */
export async function inTurn<T>(key: string, work: () => Promise<T>): Promise<T> {
  const turn = (turns.get(key) ?? Promise.resolve()).then(work);
  // The next one begins however this one ends.
  const over = turn.catch(() => undefined);
  turns.set(key, over);
  try {
    return await turn;
  } finally {
    if (turns.get(key) === over) turns.delete(key);
  }
}
