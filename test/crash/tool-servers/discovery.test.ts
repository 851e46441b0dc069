import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findEnvironment } from '../../../platform/processes/identity';
import { eventually } from '../../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import { toolServerVariable } from '../../../providers/tool-servers/program';
import { hostileProgram } from '../../support/factories/tool-server';
import { killPart, type Service, soonAgain, startService } from '../../support/stack/service';

describe('kill -9 of the worker that discovers a tool server', () => {
  let service: Service;
  let files: TempDir;

  beforeAll(async () => {
    files = await makeTempDir('crash-tool-discovery');
    service = await startService({ TMPDIR: files.path }, { restart: soonAgain });
  });
  afterAll(async () => {
    await service.close();
    await files.remove();
  });

  it('ends the server, and another worker does the discovery once', async () => {
    const file = join(files.path, 'starts');
    const starts = (): number[] => readFileSync(file, 'utf8').trim().split('\n').map(Number);
    const transport = hostileProgram('gated', file);
    await service.call.ok('POST', '/api/tool-servers', { id: 'gated', displayName: 'Gated', transport });
    const path = '/api/tool-servers/gated/discover';
    const discovering = service.call.send('POST', path, {});
    await eventually(() => expect(existsSync(file)).toBe(true));

    killPart(service, 'worker');
    const [killed = 0] = starts();
    await eventually(() => expect(existsSync(`/proc/${killed}`)).toBe(false));
    await eventually(() => expect(starts()).toHaveLength(2));
    writeFileSync(`${file}.open`, '');

    const first = await discovering;
    expect([200, 503]).toContain(first.status);
    const { body } = await eventually(async () => {
      const again = await service.call.send('POST', path, {});
      expect(again).toMatchObject({ status: 200, body: { state: 'ready', tools: [{ name: 'echo' }] } });
      return again;
    });
    if (first.status === 200) {
      expect(body).toEqual({ ...first.body, cached: true });
    }
    expect(starts()).toHaveLength(2);
    await eventually(async () => {
      const own = (await findEnvironment(toolServerVariable)).filter(({ identity }) => starts().includes(identity.pid));
      expect(own).toEqual([]);
    });
    // That of the killed worker is removed once it is certain that nothing uses it.
    expect(tmpdir()).not.toBe(files.path);
    expect(readdirSync(files.path).filter((name) => name.startsWith('runboard-scratch-')).length).toBeLessThanOrEqual(
      1,
    );
  });
});
