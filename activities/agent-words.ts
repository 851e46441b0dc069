import type { Reported } from '../runs/checkpoints/attribution';

/** The most paths that are remembered at a time; what is said beyond is not attributed to the agent. */
const rememberedPaths = 10_000;

/**
 * What an agent says it has changed, from one look at its worktree to the next. An agent writes first and says so
 * afterwards: its word about a change that was seen already can be waited for.
 */
export function agentWords() {
  let words = new Map<string, string | null | undefined>();
  let awaited: { paths: Set<string>; settle(): void } | undefined;

  return {
    /** @param object what the file was when the agent told of it */
    hear(path: string, object: string | null | undefined): void {
      if (words.size >= rememberedPaths && !words.has(path)) return;
      words.set(path, object);
      awaited?.paths.delete(path);
      if (awaited?.paths.size === 0) awaited.settle();
    },

    /** What was said since the last time, which is forgotten here. */
    take(): Reported {
      const taken = words;
      words = new Map();
      return taken;
    },

    /** Remembers what was taken and could not be used; what was said since then counts more. */
    giveBack(taken: Reported): void {
      words = new Map([...taken, ...words]);
    },

    /** What was said since the last time, which stays remembered: it may be about what has not been seen yet. */
    sinceTaken: (): Reported => words,

    /** Resolves when there is a word about each of these paths, none can come any more, or the time is over. */
    async about(paths: readonly string[], withinMs: number): Promise<void> {
      const missing = new Set(paths.filter((path) => !words.has(path)));
      if (missing.size === 0) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, withinMs);
        const settle = () => {
          clearTimeout(timer);
          resolve();
        };
        awaited = { paths: missing, settle };
      });
      awaited = undefined;
    },

    /** Ends the waiting: nothing more will be heard while it lasts. */
    complete(): void {
      awaited?.settle();
    },
  };
}
