import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import type { RunningPart } from '../../../platform/processes/parts/part';
import { eventually } from '../../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import { scriptAgent } from '../../support/caller';
import { aRepository } from '../../support/git/repository';
import { partEnvironment, type Service, startService } from '../../support/stack/service';
import { startWorkerProcess } from '../../support/stack/worker-process';

let files: TempDir;
let service: Service;
let connection: Connection;
let client: Client;
const workers: RunningPart[] = [];

const deployment = { namespace: 'default', deploymentName: 'runboard' };

describe('versions of workers', () => {
  beforeAll(async () => {
    files = await makeTempDir('versions');
    service = await startService({ WITNESS: join(files.path, 'witness') });
    connection = await Connection.connect({ address: service.temporalAddress });
    client = new Client({ connection });
    await service.call.addRepository('sample', await aRepository(files.path));
    await service.call.configureAgents([
      { ...scriptAgent('patient-bee', join(files.path, 'gate')), environmentKeys: ['WITNESS'] },
      scriptAgent('worker-bee', '1', '1'),
    ]);
  });

  afterAll(async () => {
    await Promise.all(workers.map((worker) => worker.stop(5_000)));
    await connection.close();
    await service.close();
    await files.remove();
  });

  async function launch(agent: string): Promise<{ taskId: string; attemptId: string }> {
    const { id } = await service.call.createTask({ title: `With ${agent}`, git: { repo: 'sample' } });
    const { attemptId } = await service.call.start(id, { agent });
    return { taskId: id, attemptId };
  }

  /** The versions that have executed a run, in the order of its history. */
  async function executedBy({ attemptId }: { attemptId: string }): Promise<string[]> {
    const { events } = await client.workflow.getHandle(`run/${attemptId}`).fetchHistory();
    const builds = (events ?? []).flatMap(({ workflowTaskCompletedEventAttributes: completed }) =>
      completed ? [completed.deploymentVersion?.buildId ?? ''] : [],
    );
    return builds.filter((build, n) => build !== builds[n - 1]);
  }

  const current = async () => {
    const { workerDeploymentInfo } = await client.workflowService.describeWorkerDeployment(deployment);
    return workerDeploymentInfo?.routingConfig?.currentDeploymentVersion?.buildId;
  };

  async function startVersion(build: string): Promise<void> {
    const settings = { WITNESS: join(files.path, 'witness'), BOARD_WORKER_BUILD_ID: build };
    workers.push(
      await startWorkerProcess({
        environment: partEnvironment(service, settings),
        logFile: join(service.dataDir, 'logs', `${build}.log`),
      }),
    );
  }

  const success = { attempt: { completion: { status: 'success' } } };

  it('take over runs that go on: the first one at once, another when it is made current', async () => {
    const ongoing = await launch('patient-bee');
    await eventually(async () => expect((await service.call.status(ongoing.taskId)).lastSequence).toBeGreaterThan(2));

    await startVersion('one');
    await eventually(async () => expect(await current()).toBe('one'));
    await startVersion('two');
    const before = await launch('worker-bee');
    expect(await service.call.ended(before.taskId)).toMatchObject(success);
    expect(await executedBy(before)).toEqual(['one']);
    expect(await current()).toBe('one');

    await eventually(() => client.workflowService.setWorkerDeploymentCurrentVersion({ ...deployment, buildId: 'two' }));
    const after = await launch('worker-bee');
    expect(await service.call.ended(after.taskId)).toMatchObject(success);
    expect(await executedBy(after)).toEqual(['two']);

    writeFileSync(join(files.path, 'gate'), '');
    expect(await service.call.ended(ongoing.taskId)).toMatchObject(success);
    const versions = await executedBy(ongoing);
    expect([versions[0], versions.at(-1)]).toEqual(['', 'two']);
  });
});
