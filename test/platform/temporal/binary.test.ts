import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { type CliSource, findTemporalBinary, temporalCliVersion } from '../../../platform/temporal/embedded/binary';
import { downloadCli } from '../../../platform/temporal/embedded/binary-download';
import { TemporalUnavailableError } from '../../../platform/temporal/unavailable-error';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';

const run = promisify(execFile);

describe('finding the Temporal CLI', () => {
  let directory: TempDir;
  let environment: NodeJS.ProcessEnv;
  const cached = () => join(directory.path, 'cache', 'runboard', `temporal-${temporalCliVersion}`);

  /** A program that prints who it is, or one that does not work. */
  const program = async (path: string, { says = path, works = true } = {}): Promise<string> => {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, works ? `#!/bin/sh\necho '${says}'\n` : '#!/bin/sh\nexit 1\n');
    await chmod(path, 0o755);
    return path;
  };

  const source = (name: string, options: { says?: string; works?: boolean } = {}): CliSource => ({
    name,
    fetch: (_version, into) => program(join(into, 'fetched'), options),
  });

  beforeEach(async () => {
    directory = await makeTempDir('binary');
    environment = { PATH: join(directory.path, 'bin'), XDG_CACHE_HOME: join(directory.path, 'cache') };
  });

  afterEach(() => directory.remove());

  test('takes the one on the PATH before the cached one, and the cached one before fetching', async () => {
    await program(cached());
    await expect(findTemporalBinary({ environment, sources: [] })).resolves.toBe(cached());
    const onPath = await program(join(directory.path, 'bin', 'temporal'));
    await expect(findTemporalBinary({ environment, sources: [] })).resolves.toBe(onPath);
  });

  test('fetches one into the cache from the first source that gives a working one, and reports it', async () => {
    const lines: string[] = [];
    const sources: CliSource[] = [
      { name: 'blocked', fetch: () => Promise.reject(new Error('no route')) },
      source('for another machine', { works: false }),
      source('good', { says: 'I work' }),
    ];
    const found = await findTemporalBinary({ environment, sources, report: (line) => lines.push(line) });
    expect(found).toBe(cached());
    expect((await run(found)).stdout).toBe('I work\n');
    expect(lines).toEqual([expect.stringContaining('fetching the Temporal CLI')]);
    expect(await readdir(dirname(cached()))).toEqual([`temporal-${temporalCliVersion}`]);
  });

  test('is safe when several processes fetch at once', async () => {
    const racers = Array.from({ length: 5 }, () => findTemporalBinary({ environment, sources: [source('good')] }));
    expect(new Set(await Promise.all(racers))).toEqual(new Set([cached()]));
    expect(await readdir(dirname(cached()))).toHaveLength(1);
  });

  test('reports why each way failed and what to do', async () => {
    const sources: CliSource[] = [{ name: 'the moon', fetch: () => Promise.reject(new Error('no route')) }];
    const failing = findTemporalBinary({ environment, sources });
    await expect(failing).rejects.toThrow(TemporalUnavailableError);
    await expect(failing).rejects.toThrow(
      /the moon: no route[^]*on the PATH[^]*TEMPORAL_ADDRESS[^]*pip or the internet/,
    );
  });
});

describe('downloading the Temporal CLI', () => {
  let directory: TempDir;
  let server: Server;

  const serve = async (answer: RequestListener): Promise<string> => {
    server = createServer(answer).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };

  beforeEach(async () => {
    directory = await makeTempDir('download');
  });

  afterEach(async () => {
    server.closeAllConnections();
    server.close();
    await directory.remove();
  });

  test('asks for this platform and unpacks the program from the archive', async () => {
    const packed = join(directory.path, 'packed');
    await mkdir(packed);
    await writeFile(join(packed, 'temporal'), 'the program');
    await run('tar', ['-czf', join(directory.path, 'a.tar.gz'), '-C', packed, 'temporal']);
    const archive = await readFile(join(directory.path, 'a.tar.gz'));
    let asked = '';
    const base = await serve((request, response) => {
      if (request.url === '/archive') {
        return response.end(archive);
      }
      asked = request.url ?? '';
      return response.end(
        JSON.stringify({ archiveUrl: `http://${request.headers.host}/archive`, fileToExtract: 'temporal' }),
      );
    });
    const path = await downloadCli('1.2.3', directory.path, { base });
    expect(path).toBe(join(directory.path, 'temporal'));
    expect(await readFile(path, 'utf8')).toBe('the program');
    expect(asked).toMatch(/^\/cli\/1\.2\.3\?platform=\w+&arch=(amd64|arm64)&format=tar\.gz$/);
  });

  test('does not wait for a network that swallows what it is sent', async () => {
    const base = await serve(() => undefined);
    await expect(downloadCli('1.2.3', directory.path, { base, firstAnswerMs: 100 })).rejects.toThrow(/timeout/);
  });

  test('refuses a damaged archive', async () => {
    const base = await serve((request, response) => {
      if (request.url === '/archive') {
        return response.end('not an archive');
      }
      return response.end(
        JSON.stringify({ archiveUrl: `http://${request.headers.host}/archive`, fileToExtract: 'temporal' }),
      );
    });
    await expect(downloadCli('1.2.3', directory.path, { base })).rejects.toThrow(/unpack|EPIPE/);
  });

  test('refuses a file name that leaves the directory', async () => {
    const base = await serve((request, response) =>
      response.end(JSON.stringify({ archiveUrl: `http://${request.headers.host}/archive`, fileToExtract: '../evil' })),
    );
    await expect(downloadCli('1.2.3', directory.path, { base })).rejects.toThrow(/fileToExtract/);
  });
});
