import { compiledScript } from '../../../platform/processes/compiled-script';
import { refuse } from '../http/errors';
import { createBoundedThreads, ThreadsBusyError, WorkGivenUpError } from '../threads/bounded-threads';
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
   * The graph of a text, frozen: of the latest texts it is kept.
   *
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

/** A run's graph is read when it is accepted and when it is started, and runs of one workflow have the same; each has 1 MB at most. */
const keptGraphs = 20;

/** A value that those who share it cannot change. */
function frozen<T extends object>(value: T): T {
  Object.values(value).forEach((each: unknown) => typeof each === 'object' && each !== null && frozen(each));
  return Object.freeze(value);
}

/** Opens a compiler of graphs. Whatever a text makes the parser do, the service goes on answering. */
export function createGraphCompiler({
  withinMs = 15_000,
  threads = 2,
  waiting = 50,
  script = compiledScript(__dirname, 'compile-thread.js'),
}: GraphCompilerOptions = {}): GraphCompiler {
  const parsers = createBoundedThreads<string, Compiled>({ script, withinMs, threads, waiting });
  /** Graphs that were read lately, and those that are being read, the latest last. */
  const read = new Map<string, Promise<Graph>>();

  async function compile(source: string): Promise<Graph> {
    const compiled = await parsers.run(source).catch((error: unknown) => {
      if (error instanceof ThreadsBusyError) {
        throw refuse(429, 'Too many graphs are being read. Try again.');
      }
      throw error instanceof WorkGivenUpError
        ? new GraphCompileError(`Reading the graph was given up: ${error.message}. Make it simpler, or try again.`)
        : error;
    });
    if ('problems' in compiled) {
      throw new GraphError(compiled.problems);
    }
    return frozen(compiled.graph);
  }

  return {
    compile(source) {
      const graph = read.get(source) ?? compile(source);
      read.delete(source);
      read.set(source, graph);
      graph.catch(() => read.get(source) === graph && read.delete(source));
      for (const oldest of [...read.keys()].slice(0, -keptGraphs)) {
        read.delete(oldest);
      }
      return graph;
    },
    close: () => parsers.close(),
  };
}
