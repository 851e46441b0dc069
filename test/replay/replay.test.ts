import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from '@temporalio/worker';
import { createLog } from '../../platform/log/log';
import { installRuntime } from '../../platform/temporal/runtime';
import * as workflows from '../../workflows';
import { recordedTypes } from '../../workflows/recorded-types';
import { workflowBundle } from '../support/stack/workflow-bundle';

const directory = join(__dirname, 'histories');
const recordings = readdirSync(directory).map((file) => ({
  workflowId: file.replace('.json', ''),
  history: JSON.parse(readFileSync(join(directory, file), 'utf8')) as { events: RecordedEvent[] },
}));

interface RecordedEvent {
  eventType: string;
  workflowExecutionStartedEventAttributes?: { workflowType: { name: string } };
}

const bundled = readFileSync(workflowBundle.codePath, 'utf8');

describe('recorded workflow histories', () => {
  beforeAll(() => installRuntime(createLog({ name: 'test', level: 'silent' })));

  /** Replays the histories and returns the mismatch of each. */
  async function failures(code: string, histories: typeof recordings): Promise<string[]> {
    const found: string[] = [];
    const results = Worker.runReplayHistories({ workflowBundle: { code } }, histories);
    for await (const { workflowId, error } of results) {
      if (error) {
        found.push(`${workflowId}: ${error.message}`);
      }
    }
    return found;
  }

  test('every workflow has a recorded history', () => {
    const recorded = new Set(
      recordings.map(({ history }) => history.events[0]?.workflowExecutionStartedEventAttributes?.workflowType.name),
    );
    // A renamed workflow is recorded under the type that clients start.
    const started = Object.keys(workflows).filter((name) => !(name in recordedTypes));
    expect([...recorded].sort()).toEqual(started.sort());
  });

  test('workflows of earlier versions replay', async () => {
    expect(await failures(bundled, recordings)).toEqual([]);
  });

  test('a change that would break a running workflow is noticed', async () => {
    const body = /async function runAttempt\([^)]*\) ?\{/;
    const sleep = /\(0, ?[\w$]+\.sleep\)/.exec(bundled.slice(bundled.search(body)))?.[0];
    const broken = bundled.replace(body, `$& await ${sleep}(5);`);
    expect(broken).not.toBe(bundled);
    const found = await failures(broken, recordings);
    expect(found.length).toBeGreaterThan(0);
    expect(found.join('\n')).toContain('TMPRL1100');
  });
});
