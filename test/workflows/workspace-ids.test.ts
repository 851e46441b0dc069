import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { idInWorkspace, workspaceWorkflow } from '../../workflows/workspace-ids';

describe('ids of workflows', () => {
  it('are the same as ever in local, and name any other workspace', () => {
    expect(idInWorkspace('local', 'run/attempt_1')).toBe('run/attempt_1');
    expect(idInWorkspace('ws-0123456789ab', 'run/attempt_1')).toBe('ws/ws-0123456789ab/run/attempt_1');
  });

  it.each([
    ['run/attempt_1', { workspaceId: 'local', id: 'run/attempt_1' }],
    ['ws/ws-0123456789ab/run/attempt_1', { workspaceId: 'ws-0123456789ab', id: 'run/attempt_1' }],
    ['ws/ws-0123456789ab/ws/ws-aaaaaaaaaaaa/x', { workspaceId: 'ws-0123456789ab', id: 'ws/ws-aaaaaaaaaaaa/x' }],
    // None of these is an id that a workspace gives.
    ['ws/local/run/attempt_1', { workspaceId: 'local', id: 'ws/local/run/attempt_1' }],
    ['ws/ws-0123456789ab/', { workspaceId: 'local', id: 'ws/ws-0123456789ab/' }],
    ['ws/../x', { workspaceId: 'local', id: 'ws/../x' }],
    ['', { workspaceId: 'local', id: '' }],
  ])('%j are read back', (workflowId, expected) => {
    expect(workspaceWorkflow(workflowId)).toEqual(expected);
  });

  it('are given by workflow code to siblings of its own workspace alone', () => {
    const directory = join(__dirname, '../../workflows');
    const sources = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.ts'),
    );
    const calls = sources.flatMap((name) => {
      const text = readFileSync(join(directory, name), 'utf8');
      if (!text.includes("from '@temporalio/workflow'")) {
        return [];
      }
      return [...text.matchAll(/(?:workflowId: |getExternalWorkflowHandle\()(\S+)/g)].map(
        ([call]) => `${name}: ${call}`,
      );
    });
    expect(calls.length).toBeGreaterThan(5);
    expect(calls.filter((call) => !/(?:workflowId: |Handle\()sibling\(/.test(call))).toEqual([]);
  });
});
