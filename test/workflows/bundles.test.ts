import { readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { plantsWorkflowBundle, workflowBundle, workflowRunsBundle } from '../support/stack/workflow-bundle';

const inlineMap = /\n\/\/# sourceMappingURL=data:[^,]*,(.*)$/;

describe('bundles of workflows', () => {
  it.each([
    [workflowBundle, 'workflows/agent-run/workflow.ts', 'async function agentRun('],
    [plantsWorkflowBundle, 'services/plants/workflow.ts', 'async function plantCreation('],
    [workflowRunsBundle, 'services/workflow-runs/sessions/workflow.ts', 'async function sessionGeneration('],
  ])('are held as text of one byte for a character, and name their sources: %j', ({ codePath }, source, text) => {
    const bundle = readFileSync(codePath, 'utf8');
    const payload = JSON.parse(Buffer.from(inlineMap.exec(bundle)?.[1] ?? '', 'base64').toString()) as SourceMapPayload;
    expect(bundle).not.toMatch(/[^\x00-\x7f]/);
    expect(payload.sourcesContent).toBeUndefined();
    const lines = bundle.split('\n');
    const line = lines.findIndex((each) => each.includes(text));
    const entry = new SourceMap(payload).findEntry(line, lines[line]?.indexOf(text) ?? 0);
    expect(entry).toMatchObject({ originalSource: expect.stringContaining(source) as string });
  });
});
