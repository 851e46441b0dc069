import { once } from 'node:events';
import { connect as connectTo, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { readEnvironment } from '../../platform/config/env';
import { createLog } from '../../platform/log/log';
import { eventually } from '../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';
import * as stores from '../../stores/port/open';
import * as heartbeat from '../../worker/heartbeat';
import { startWorker } from '../../worker/start';
import { testSettings } from '../support/settings';
import { workflowBundle } from '../support/stack/workflow-bundle';

jest.mock('../../worker/heartbeat', () => {
  const actual = jest.requireActual<typeof heartbeat>('../../worker/heartbeat');
  return { ...actual, startHeartbeat: jest.fn(actual.startHeartbeat) };
});
jest.mock('../../stores/port/open', () => {
  const actual = jest.requireActual<typeof stores>('../../stores/port/open');
  return { ...actual, openDatabase: jest.fn(actual.openDatabase) };
});

/** A way to the Temporal server that counts who is connected. */
async function countedWay(): Promise<{ address: string; connected: Set<Socket>; server: Server }> {
  const [host, port] = process.env.TEST_TEMPORAL_ADDRESS!.split(':');
  const connected = new Set<Socket>();
  const server = createServer((inbound) => {
    const outbound = connectTo(Number(port), host);
    connected.add(inbound);
    inbound.once('close', () => {
      connected.delete(inbound);
      outbound.destroy();
    });
    outbound.once('close', () => inbound.destroy());
    for (const socket of [inbound, outbound]) {
      socket.on('error', () => socket.destroy());
    }
    inbound.pipe(outbound).pipe(inbound);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') {
    throw new Error('A TCP server has no TCP address.');
  }
  return { address: `127.0.0.1:${address.port}`, connected, server };
}

describe('worker start that fails halfway', () => {
  let dir: TempDir;
  let way: Awaited<ReturnType<typeof countedWay>>;
  beforeEach(async () => {
    dir = await makeTempDir('worker-start');
    way = await countedWay();
  });
  afterEach(async () => {
    jest.clearAllMocks();
    for (const socket of way.connected) {
      socket.destroy();
    }
    way.server.close();
    await dir.remove();
  });

  const start = (codePath: string) =>
    startWorker(
      readEnvironment({
        ...testSettings,
        NODE_ENV: 'test',
        BOARD_DATA_DIR: join(dir.path, 'data'),
        TEMPORAL_ADDRESS: way.address,
      }),
      createLog({ name: 'test', level: 'silent' }),
      { workflowBundle: { codePath } },
    );

  const watches = () => process.getActiveResourcesInfo().filter((name) => name.startsWith('FSEvent')).length;

  /** What is open must be closed, whatever this process had open before. */
  async function expectNothingOpen(watchesBefore: number): Promise<void> {
    const database = await jest.mocked(stores.openDatabase).mock.results[0]?.value;
    await expect(database?.ping()).rejects.toThrow('The database is closed.');
    expect(watches()).toBe(watchesBefore);
    await eventually(() => expect(way.connected.size).toBe(0));
  }

  it('closes the connections, the stores and the board when its workflows cannot be read', async () => {
    const before = watches();
    await expect(start(join(dir.path, 'no-bundle.js'))).rejects.toThrow('no-bundle.js');
    await expectNothingOpen(before);
  });

  it('ends the workers that it had created when it cannot announce itself', async () => {
    const before = watches();
    jest.mocked(heartbeat.startHeartbeat).mockRejectedValueOnce(new Error('The host could not be announced.'));
    await expect(start(workflowBundle.codePath)).rejects.toThrow('The host could not be announced.');
    await expectNothingOpen(before);
  });
});
