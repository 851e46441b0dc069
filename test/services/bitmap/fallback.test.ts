import { createLog } from '../../../platform/log/log';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import { PlainBitmap } from '../../../services/bitmap/bitmaps/plain';
import type * as Start from '../../../services/bitmap/start';

const warning = 'native bitmaps are not installed, slower ones in use';

interface LogLine {
  level: string;
  msg: string;
}

let directory: TempDir;
beforeEach(async () => {
  directory = await makeTempDir('bitmap-fallback');
});
afterEach(async () => {
  jest.resetModules();
  await directory.remove();
});

/** Starts a server, asks it which bitmaps it has, and ends it. */
async function startOnce(): Promise<{ bitmaps: string; lines: LogLine[] }> {
  const lines: LogLine[] = [];
  const log = createLog({ name: 'bitmap', level: 'info' }, { write: (line) => lines.push(JSON.parse(line)) });
  const options: Start.StartBitmapOptions = {
    log,
    directory: directory.path,
    host: '127.0.0.1',
    port: 0,
    queryTimeoutMs: 30_000,
    bodyLimit: 4_194_304,
    threads: 0,
    maxAuthFailures: 0,
    trustedProxies: [],
    onFailure: (error) => {
      throw error;
    },
  };
  const { startBitmapServer } = jest.requireActual<typeof Start>('../../../services/bitmap/start');
  const server = await startBitmapServer(options);
  try {
    const info = await fetch(`${server.url}/info`);
    return { bitmaps: ((await info.json()) as { bitmaps: string }).bitmaps, lines };
  } finally {
    await server.close();
  }
}

describe('bitmap server', () => {
  it('warns once at its start where the native bitmaps are not installed', async () => {
    const missing = () => {
      throw new Error("Cannot find module 'roaring'");
    };
    jest.doMock('roaring', missing, { virtual: true });
    const { bitmaps, lines } = await startOnce();
    expect(bitmaps).toBe('plain');
    expect(lines.filter(({ msg }) => msg === warning)).toMatchObject([{ level: 'warn', package: 'roaring' }]);
  });

  it('does not warn where they are', async () => {
    jest.doMock('roaring', () => ({ RoaringBitmap32: PlainBitmap }), { virtual: true });
    const { bitmaps, lines } = await startOnce();
    expect(bitmaps).toBe('native');
    expect(lines.map(({ msg }) => msg)).not.toContain(warning);
  });
});
