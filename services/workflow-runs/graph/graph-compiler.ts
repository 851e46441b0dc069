import { bulkhead, BulkheadRejectedError } from 'cockatiel';
import { Piscina } from 'piscina';
import { compiledScript } from '../../../platform/processes/compiled-script';
import { refuse } from '../http/errors';
import { GraphError } from './compile';
import type { Compiled } from './compile-thread';
import type { Graph } from './graph';

export interface GraphCompilerOptions {
  /** How long one text may take, in milliseconds. */
  withinMs?: number;
  /** How many texts are read at a time, each in a thread, and how many wait for that. */
  threads?: number;
  waiting?: number;
  /** The script of the threads, which tests replace. */
  script?: string;
}

/** Compiles graphs in threads. */
export interface GraphCompiler {
  /**
   * @throws GraphError naming what is wrong with the text
   * @throws GraphCompileError when reading it took too long or too much memory
   * @throws AppError 429 when too many texts wait
   */
  compile(source: string): Promise<Graph>;
  close(): Promise<void>;
}

/** Reading the text was given up; another try may succeed, on a machine that is less busy. */
export class GraphCompileError extends Error {
  override readonly name = 'GraphCompileError';
}

/** Memory of JavaScript in one thread, in megabytes. */
const maxHeapMb = 128;

/**
 * Opens a compiler of graphs. Whatever a text makes the parser do, the service goes on answering: the thread that reads it ends when
 * its time is up, and another one takes its place. Threads that have nothing to do end.
 */
export function createGraphCompiler({
  withinMs = 5_000,
  threads = 2,
  waiting = 50,
  script = compiledScript(__dirname, 'compile-thread.js'),
}: GraphCompilerOptions = {}): GraphCompiler {
  const pool = new Piscina<string, Compiled>({
    filename: script,
    minThreads: 0,
    maxThreads: threads,
    idleTimeout: 10_000,
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: maxHeapMb },
  });
  const turns = bulkhead(threads, waiting);

  async function read(source: string): Promise<Compiled> {
    const late = AbortSignal.timeout(withinMs);
    try {
      return await pool.run(source, { signal: late });
    } catch (error) {
      throw new GraphCompileError(
        late.aborted
          ? `Reading the graph took longer than ${withinMs / 1_000} s. Make it simpler, or try again.`
          : `Reading the graph failed: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  }

  return {
    async compile(source) {
      const compiled = await turns
        .execute(() => read(source))
        .catch((error: unknown) => {
          throw error instanceof BulkheadRejectedError
            ? refuse(429, 'Too many graphs are being read. Try again.')
            : error;
        });
      if ('problems' in compiled) {
        throw new GraphError(compiled.problems);
      }
      return compiled.graph;
    },
    close: () => pool.destroy(),
  };
}
