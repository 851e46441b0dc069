import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import type { RunningPart } from '../../../platform/processes/parts/part';
import { eventually } from '../../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import { scriptAgent } from '../../support/caller';
import { changeFeatures } from '../../support/change-features';
import { aRepository } from '../../support/git/repository';
import { partEnvironment, type Service, startService } from '../../support/stack/service';
import { startWorkerProcess } from '../../support/stack/worker-process';

let files: TempDir;
let service: Service;
let connection: Connection;
let client: Client;
const workers: RunningPart[] = [];

/** The file that an agent waits for. */
const gate = (agent: string): string => join(files.path, agent);

/** As Temporal's API numbers them. */
const behaviors = { pinned: 1, autoUpgrade: 2 };

const deployment = { namespace: 'default', deploymentName: 'runboard' };

describe('versions of workers', () => {
  beforeAll(async () => {
    files = await makeTempDir('versions');
    service = await startService({ WITNESS: join(files.path, 'witness') });
    connection = await Connection.connect({ address: service.temporalAddress });
    client = new Client({ connection });
    await service.call.addRepository('sample', await aRepository(files.path));
    await service.call.configureAgents([
      ...['patient-bee', 'first-bee', 'second-bee'].map((type) => ({
        ...scriptAgent('patient-bee', gate(type)),
        ...{ type, name: type, environmentKeys: ['WITNESS'] },
      })),
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

  /** A run whose agent works until the gate is there. */
  async function begin(agent: string): Promise<{ taskId: string; attemptId: string }> {
    const run = await launch(agent);
    await eventually(async () => expect((await service.call.status(run.taskId)).lastSequence).toBeGreaterThan(2));
    return run;
  }

  /** The versions that have executed a run, in the order of its history. */
  async function executedBy({ attemptId }: { attemptId: string }): Promise<string[]> {
    const { events } = await client.workflow.getHandle(`run/${attemptId}`).fetchHistory();
    const builds = (events ?? []).flatMap(({ workflowTaskCompletedEventAttributes: completed }) =>
      completed ? [completed.deploymentVersion?.buildId ?? ''] : [],
    );
    return builds.filter((build, n) => build !== builds[n - 1]);
  }

  async function behaviorOf(workflowId: string): Promise<number | null | undefined> {
    const { raw } = await client.workflow.getHandle(workflowId).describe();
    return raw.workflowExecutionInfo?.versioningInfo?.behavior;
  }

  const current = async () => {
    const { workerDeploymentInfo } = await client.workflowService.describeWorkerDeployment(deployment);
    return workerDeploymentInfo?.routingConfig?.currentDeploymentVersion?.buildId;
  };

  async function startVersion(build: string, versioning = 'auto-upgrade'): Promise<RunningPart> {
    const settings = {
      WITNESS: join(files.path, 'witness'),
      BOARD_WORKER_BUILD_ID: build,
      BOARD_WORKER_VERSIONING: versioning,
    };
    const worker = await startWorkerProcess({
      environment: partEnvironment(service, settings),
      logFile: join(service.dataDir, 'logs', `${build}.log`),
    });
    workers.push(worker);
    return worker;
  }

  /** As `temporal workflow update-options --versioning-override-behavior auto_upgrade` does. */
  const unpin = ({ attemptId }: { attemptId: string }) =>
    client.workflowService.updateWorkflowExecutionOptions({
      namespace: 'default',
      workflowExecution: { workflowId: `run/${attemptId}` },
      workflowExecutionOptions: { versioningOverride: { autoUpgrade: true } },
      updateMask: { paths: ['versioning_override'] },
    });

  const makeCurrent = (buildId: string) =>
    eventually(() => client.workflowService.setWorkerDeploymentCurrentVersion({ ...deployment, buildId }));

  const success = { attempt: { completion: { status: 'success' } } };

  it('take over runs that go on: the first one at once, another when it is made current', async () => {
    const ongoing = await begin('patient-bee');

    await startVersion('one');
    await eventually(async () => expect(await current()).toBe('one'));
    await startVersion('two');
    const before = await launch('worker-bee');
    expect(await service.call.ended(before.taskId)).toMatchObject(success);
    expect(await executedBy(before)).toEqual(['one']);
    expect(await current()).toBe('one');

    await makeCurrent('two');
    const after = await launch('worker-bee');
    expect(await service.call.ended(after.taskId)).toMatchObject(success);
    expect(await executedBy(after)).toEqual(['two']);

    writeFileSync(gate('patient-bee'), '');
    expect(await service.call.ended(ongoing.taskId)).toMatchObject(success);
    const versions = await executedBy(ongoing);
    expect([versions[0], versions.at(-1)]).toEqual(['', 'two']);
  });

  it('end pinned runs that they have begun, while another one begins the next', async () => {
    const three = await startVersion('three', 'pinned');
    await makeCurrent('three');
    const [pinned, stranded] = [await begin('first-bee'), await begin('second-bee')];
    await startVersion('four', 'pinned');
    await makeCurrent('four');

    await changeFeatures(service.call, { admission: { limits: { provider: { runs: 2 } } } });
    const next = await launch('worker-bee');
    expect((await service.call.status(next.taskId)).state).toBe('queued');
    writeFileSync(gate('first-bee'), '');
    expect(await service.call.ended(pinned.taskId)).toMatchObject(success);
    expect(await executedBy(pinned)).toEqual(['three']);
    expect(await service.call.ended(next.taskId)).toMatchObject(success);
    expect(await executedBy(next)).toEqual(['four']);
    expect(await behaviorOf(`run/${next.attemptId}`)).toBe(behaviors.pinned);
    // It is there as long as launches wait, whichever version is current.
    expect(await behaviorOf('admission/scheduler')).toBe(behaviors.autoUpgrade);

    // Its version is gone before it has ended: it waits for one, until an operator hands it to the current version.
    process.kill(three.pid, 'SIGKILL');
    writeFileSync(gate('second-bee'), '');
    const ofThree = "TemporalWorkerDeploymentVersion = 'runboard:three' AND WorkflowType = 'agentRun'";
    const found = await client.workflow.count(`${ofThree} AND ExecutionStatus = 'Running'`);
    expect(found.count).toBe(1);
    await unpin(stranded);
    expect(await service.call.ended(stranded.taskId)).toMatchObject(success);
    expect(await executedBy(stranded)).toEqual(['three', 'four']);
  });
});
