import { createLog } from '../../../platform/log/log';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import { type RunningBitmapServer, type StartBitmapOptions, startBitmapServer } from '../../../services/bitmap/start';

export interface Reply {
  status: number;
  text: string;
  type: string;
  bytes: Buffer;
}

export interface ServerUnderTest {
  url: string;
  directory: string;
  call(method: string, path: string, body?: string | Uint8Array, headers?: Record<string, string>): Promise<Reply>;
  /** The text of a query's response. */
  query(index: string, text: string, args?: string): Promise<string>;
  close(): Promise<void>;
  /** Closes, and starts again on the same data, with these options instead of those it had. */
  restart(changed?: Partial<StartBitmapOptions>): Promise<void>;
  remove(): Promise<void>;
}

/** The server on a free port, with data of its own. */
export async function serverUnderTest(options: Partial<StartBitmapOptions> = {}): Promise<ServerUnderTest> {
  const directory: TempDir = await makeTempDir('bitmap');
  const start = (changed: Partial<StartBitmapOptions> = {}): Promise<RunningBitmapServer> =>
    startBitmapServer({
      host: '127.0.0.1',
      port: 0,
      directory: directory.path,
      bodyLimit: 4_194_304,
      queryTimeoutMs: 30_000,
      threads: 0,
      maxAuthFailures: 0,
      trustedProxies: [],
      log: createLog({ name: 'bitmap', level: 'silent' }),
      onFailure: (error) => {
        throw error;
      },
      ...options,
      ...changed,
    });
  let server = await start();
  const call: ServerUnderTest['call'] = async (method, path, body, headers = {}) => {
    const response = await fetch(server.url + path, { method, body, headers });
    const bytes = Buffer.from(await response.arrayBuffer());
    return { status: response.status, text: bytes.toString(), type: response.headers.get('Content-Type') ?? '', bytes };
  };
  return {
    get url() {
      return server.url;
    },
    directory: directory.path,
    call,
    query: async (index, text, args = '') => (await call('POST', `/index/${index}/query${args}`, text)).text.trimEnd(),
    close: () => server.close(),
    restart: async (changed) => {
      await server.close();
      server = await start(changed);
    },
    remove: async () => {
      await server.close();
      await directory.remove();
    },
  };
}
