import { existsSync, readFileSync } from 'node:fs';
import Module from 'node:module';
import { dirname, isAbsolute } from 'node:path';
import { Script } from 'node:vm';
import { digestOf, type RecordedCache, type RecordedModule } from './cache-file';

type ResolveOptions = [isMain?: boolean, options?: { paths?: string[] }];

/** What Node's loader calls to find and to run what `require` is called for; its types leave it out. */
interface ModuleLoader {
  _extensions: Record<string, (module: NodeJS.Module, filename: string) => void>;
  _resolveFilename: (request: string, parent: NodeJS.Module | undefined, ...how: ResolveOptions) => string;
  prototype: {
    _compile: (this: NodeJS.Module, ...module: [source: string, filename: string, format?: string]) => unknown;
  };
  /** Puts a source into the function that a module is. */
  wrap: (source: string) => string;
}

const loader = Module as unknown as ModuleLoader;
type RunModule = (...names: unknown[]) => unknown;

/** Whether what a recorded request leads to is still what it led to. */
export type IsCurrent = (from: string, request: string) => boolean;

/**
 * Makes `require` take from a recording what each request leads to and what V8 made of each module, where its source is that of
 * the recording. All else is left to Node.
 */
export function loadCompiled(cache: RecordedCache, isCurrent: IsCurrent): void {
  const { _resolveFilename: resolveFilename } = loader;
  const loadScript = loader._extensions['.js'];
  loader._resolveFilename = (request, parent, ...how) => {
    const [isMain, options] = how;
    const from = parent?.filename;
    const found =
      typeof from === 'string' && isMain !== true && options === undefined && isCurrent(from, request)
        ? cache.resolve(from, request)
        : undefined;
    const isThere = found !== undefined && (require.cache[found] !== undefined || existsSync(found));
    return isThere ? found : resolveFilename(request, parent, ...how);
  };
  loader._extensions['.js'] = (module, filename) => {
    const script = cache.has(filename) ? recordedScript(cache, filename) : undefined;
    if (script === undefined) {
      loadScript?.(module, filename);
      return;
    }
    run(script, module, filename);
  };
}

function recordedScript(cache: RecordedCache, filename: string): Script | undefined {
  const source = readFileSync(filename, 'utf8');
  const cachedData = cache.dataOf(filename, source);
  return cachedData && compileScript(filename, source, cachedData);
}

/** What a process loads, as it goes to `writeCacheFile`. */
export interface Recorder {
  modules(): Map<string, RecordedModule>;
  resolved: Map<string, Map<string, string>>;
}

/** Notes what each module of this process is compiled from, and what its requests lead to. */
export function recordLoaded(): Recorder {
  const scripts = new Map<string, { digest: string; script: Script }>();
  const resolved = new Map<string, Map<string, string>>();
  const { _resolveFilename: resolveFilename } = loader;
  const { _compile: compile } = loader.prototype;
  loader._resolveFilename = (request, parent, ...how) => {
    const found = resolveFilename(request, parent, ...how);
    const from = parent?.filename;
    if (typeof from === 'string' && how[1] === undefined && isAbsolute(found)) {
      resolved.set(from, (resolved.get(from) ?? new Map<string, string>()).set(request, found));
    }
    return found;
  };
  loader.prototype._compile = function (...module) {
    const [source, filename, format] = module;
    const script = format === 'module' ? undefined : compileScript(filename, source);
    if (script === undefined) {
      return compile.apply(this, module);
    }
    scripts.set(filename, { digest: digestOf(source), script });
    return run(script, this, filename);
  };
  return {
    resolved,
    modules: () =>
      new Map([...scripts].map(([path, { digest, script }]) => [path, { digest, data: script.createCachedData() }])),
  };
}

function run(script: Script, module: NodeJS.Module, filename: string): unknown {
  const body = script.runInThisContext() as RunModule;
  return body.call(module.exports, module.exports, requireOf(module), module, filename, dirname(filename));
}

/** What a module is given as `require`. */
function requireOf(module: NodeJS.Module): unknown {
  const resolve = (request: string, options?: { paths?: string[] }): string =>
    loader._resolveFilename(request, module, false, options);
  // Only Node's own knows where it looks; hardly any module asks.
  const paths = (request: string) => Module.createRequire(module.filename).resolve.paths(request);
  const { main, cache } = require;
  return Object.assign((request: string): unknown => module.require(request) as unknown, {
    resolve: Object.assign(resolve, { paths }),
    main,
    cache,
    extensions: loader._extensions,
  });
}

const dynamicImport = /\bimport\s*\(/;

/**
 * @returns nothing for what is left to Node's loader: what is no CommonJS module, and what imports later, which only Node's own
 * can resolve
 */
function compileScript(filename: string, source: string, cachedData?: Buffer): Script | undefined {
  if (dynamicImport.test(source)) {
    return undefined;
  }
  try {
    return new Script(loader.wrap(source), { filename, ...(cachedData ? { cachedData } : {}) });
  } catch (error) {
    if (error instanceof SyntaxError) {
      return undefined;
    }
    throw error;
  }
}
