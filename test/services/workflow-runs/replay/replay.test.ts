import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from '@temporalio/worker';
import { createLog } from '../../../../platform/log/log';
import { installRuntime } from '../../../../platform/temporal/runtime';
import * as workflows from '../../../../services/workflow-runs/workflow';
import { workflowRunsBundle } from '../../../support/stack/workflow-bundle';

const directory = join(__dirname, 'histories');
const recordings = readdirSync(directory).map((file) => ({
  workflowId: file.replace('.json', ''),
  history: JSON.parse(readFileSync(join(directory, file), 'utf8')) as { events: RecordedEvent[] },
}));
interface RecordedEvent {
  workflowExecutionStartedEventAttributes?: { workflowType: { name: string } };
}

const bundled = readFileSync(workflowRunsBundle.codePath, 'utf8');

describe('recorded histories of workflow runs', () => {
  beforeAll(() => installRuntime(createLog({ name: 'test', level: 'silent' })));

  /** Replays the histories and returns which of them do not fit the workflows any more. */
  async function failures(code: string): Promise<string[]> {
    const found: string[] = [];
    const results = Worker.runReplayHistories({ workflowBundle: { code } }, recordings);
    for await (const { workflowId, error } of results) {
      if (error) {
        found.push(`${workflowId}: ${error.message}`);
      }
    }
    return found;
  }

  test('every workflow has a recorded history', () => {
    const recorded = recordings.map(
      ({ history }) => history.events[0]?.workflowExecutionStartedEventAttributes?.workflowType.name,
    );
    expect([...new Set(recorded)].sort()).toEqual(Object.keys(workflows).sort());
  });

  test('workflows of earlier versions replay', async () => {
    expect(await failures(bundled)).toEqual([]);
  });

  test.each([
    ['session', 'await acceptMessage(message)', 'await tellFailure(message)'],
    ['run', 'await this.storage.save(', 'await Promise.resolve('],
  ])('a change that would break a %s is noticed', async (name, line, other) => {
    const broken = bundled.replace(line, other);
    expect(broken).not.toBe(bundled);
    const expected = recordings.filter(({ workflowId }) => workflowId.startsWith(`${name}-`));
    expect(await failures(broken)).toHaveLength(expected.length);
  });
});
