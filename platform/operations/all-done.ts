/**
 * Waits for pieces of work that do not depend on each other, for each of them also when one fails: what repeats them all begins
 * when nothing of them goes on.
 *
 * @throws what the first of them, in their order, has failed with
 */
export async function allDone(works: readonly Promise<unknown>[]): Promise<void> {
  const results = await Promise.allSettled(works);
  const failed = results.find((result) => result.status === 'rejected');
  if (failed) {
    throw failed.reason;
  }
}
