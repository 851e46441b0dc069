import Module from 'node:module';
import { dirname } from 'node:path';
import { Script } from 'node:vm';
import { type CompiledModule, sourceDigest } from './cache-file';
import { moduleName } from './location';

/** What Node's loader calls with the source of each module that `require` loads; its types leave it out. */
interface ModuleLoader {
  prototype: {
    _compile: (this: NodeJS.Module, ...module: [source: string, filename: string, format?: string]) => unknown;
  };
  /** Puts a source into the function that a module is. */
  wrap: (source: string) => string;
}

const dynamicImport = /\bimport\s*\(/;

const loader = Module as unknown as ModuleLoader;

/** Receives each module that had to be compiled, before it runs. */
export type OnCompiled = (filename: string, source: string, script: Script) => void;

/**
 * Makes `require` take modules from `known` where their source is that of the data; V8 itself refuses data of another version
 * or of other flags, and compiles then.
 *
 * @param onCompiled of modules that are not known; without it they are left to Node
 * @returns puts Node's own loader back
 */
export function loadCompiled(known: ReadonlyMap<string, CompiledModule>, onCompiled?: OnCompiled): () => void {
  const { _compile: compile } = loader.prototype;
  loader.prototype._compile = function (...module) {
    const [source, filename, format] = module;
    const script = format === 'module' ? undefined : scriptOf(filename, source);
    if (script === undefined) {
      return compile.apply(this, module);
    }
    const body = script.runInThisContext() as (...names: unknown[]) => unknown;
    const require = Module.createRequire(filename);
    return body.call(this.exports, this.exports, require, this, filename, dirname(filename));
  };
  return () => {
    loader.prototype._compile = compile;
  };

  function scriptOf(filename: string, source: string): Script | undefined {
    const compiled = known.get(moduleName(filename));
    if (compiled?.digest === sourceDigest(source)) {
      return compileScript(filename, source, compiled.data);
    }
    // Only Node's own loader knows how to resolve what such a module imports later.
    if (onCompiled === undefined || dynamicImport.test(source)) {
      return undefined;
    }
    const script = compileScript(filename, source);
    if (script !== undefined) {
      onCompiled(filename, source, script);
    }
    return script;
  }
}

/** @returns nothing for what is no CommonJS module, which is left to Node's loader */
function compileScript(filename: string, source: string, cachedData?: Buffer): Script | undefined {
  try {
    return new Script(loader.wrap(source), { filename, ...(cachedData ? { cachedData } : {}) });
  } catch (error) {
    if (error instanceof SyntaxError) {
      return undefined;
    }
    throw error;
  }
}
