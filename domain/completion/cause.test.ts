import type { CompletionResult } from '../../contracts/runs/completion';
import { causeOf } from './cause';

type Ended = Parameters<typeof causeOf>[0];
const ended = (fields: Partial<CompletionResult>): Ended => ({
  status: 'failed',
  summary: 'The agent failed.',
  downgrades: [],
  blockers: [],
  ...fields,
});
const exited = (output: string) =>
  ended({ error: `The agent exited with code 1.${output === '' ? '' : ` Its last words: ${output}`}` });

describe('the cause of a failed run', () => {
  test.each([
    [
      'a module that is missing',
      "node:internal/modules/cjs/loader:1228\n  throw err;\n  ^\n\nError: Cannot find module '/opt/agent.js'\n    at Module._load (node:internal:1:2)\n  code: 'MODULE_NOT_FOUND'\n}\n\nNode.js v20.20.0",
      "Cannot find module '/opt/agent.js'",
    ],
    ['an error with a code', 'Error [ERR_MODULE_NOT_FOUND]: Cannot find package', 'Cannot find package'],
    [
      'a traceback',
      'Traceback (most recent call last):\n  File "agent.py", line 1, in <module>\nModuleNotFoundError: No module named \'x\'',
      "ModuleNotFoundError: No module named 'x'",
    ],
    ['a fatal error of git', 'hint: try again\nfatal: not a git repository', 'fatal: not a git repository'],
    ['another last line', 'starting\nno such model', 'no such model'],
    ['nothing but frames', '    at a (b:1:2)\n', 'The agent exited with code 1.'],
    ['silence', '', 'The agent exited with code 1.'],
  ])('is named for %s', (_name, output, cause) => {
    expect(causeOf(exited(output))).toBe(cause);
  });

  it('is what the agent or its protocol reported, where that is its error', () => {
    expect(causeOf(ended({ error: 'Authentication required: run codex login' }))).toBe(
      'Authentication required: run codex login',
    );
    expect(causeOf(ended({ blockers: [{ code: 'x', summary: 'No quota.' }] }))).toBe('No quota.');
    expect(causeOf(ended({}))).toBe('The agent failed.');
  });

  it('is the blocker of a blocked run, and the shortfall of a partial one', () => {
    expect(causeOf(ended({ status: 'blocked', blockers: [{ code: 'x', summary: 'Which port?' }] }))).toBe(
      'Which port?',
    );
    const downgrades = [{ code: 'commit-missing', message: 'No commit was made.' }];
    expect(causeOf(ended({ status: 'partial', downgrades }))).toBe('No commit was made.');
  });

  it('is one bounded line without control characters', () => {
    const cause = causeOf(ended({ error: `a\u001b[31m\r\n\u2028b ${'x'.repeat(1_000)}` })) ?? '';
    expect(cause).toMatch(/^a b x+…$/);
    expect(cause).toHaveLength(300);
  });

  test.each(['success', 'interrupted'] as const)('is absent for %s', (status) => {
    expect(causeOf(ended({ status, error: 'x' }))).toBeUndefined();
  });
});
