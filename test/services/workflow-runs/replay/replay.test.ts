import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from '@temporalio/worker';
import { createLog } from '../../../../platform/log/log';
import { installRuntime } from '../../../../platform/temporal/runtime';
import { workflowRunsBundle } from '../../../support/workflow-bundle';

const directory = join(__dirname, 'histories');
const recordings = readdirSync(directory).map((file) => ({
  workflowId: file.replace('.json', ''),
  history: JSON.parse(readFileSync(join(directory, file), 'utf8')) as unknown,
}));
const bundled = readFileSync(workflowRunsBundle.codePath, 'utf8');

beforeAll(() => installRuntime(createLog({ name: 'test', level: 'silent' })));

/** Replays the histories and answers which of them do not fit the workflows any more. */
async function failures(code: string): Promise<string[]> {
  const found: string[] = [];
  const results = Worker.runReplayHistories({ workflowBundle: { code } }, recordings);
  for await (const { workflowId, error } of results) if (error) found.push(`${workflowId}: ${error.message}`);
  return found;
}

test('messages that were being answered before this change are answered after it', async () => {
  expect(await failures(bundled)).toEqual([]);
});

test('a change that would break them is noticed', async () => {
  const broken = bundled.replace('await acceptMessage(message)', 'await tellFailure(message)');
  expect(broken).not.toBe(bundled);
  expect(await failures(broken)).toHaveLength(recordings.length);
});
