/** Rejects with `late` when the promise takes longer than so many milliseconds; what it stands for continues. */
export async function within<T>(ms: number, late: string | Error, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(typeof late === 'string' ? new Error(late) : late), ms);
  });
  // The promise that loses the race may still reject.
  promise.catch(() => undefined);
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
