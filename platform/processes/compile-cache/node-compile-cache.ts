import Module from 'node:module';

/** Node's own cache, from 22.8 on. */
interface CompileCache {
  enableCompileCache?: (directory: string) => { status: number };
  flushCompileCache?: () => void;
}

export const { enableCompileCache, flushCompileCache } = Module as unknown as CompileCache;
