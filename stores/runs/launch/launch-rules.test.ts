import { Operation, runOperation } from '../../../platform/operations/operation';
import { type LaunchRuleSources, type RuledLaunch, ruleOnLaunch } from './launch-rules';

const launch = {
  ...{ attemptId: 'attempt_12345678', taskId: 'task_1', agent: 'bee', phase: 'implement', source: 'direct' },
  ...{ actor: 'user:ada', request: {}, project: undefined, parentAttemptId: undefined },
} as unknown as RuledLaunch;
const operation = () => new Operation({ seed: Buffer.from('seed'), startedAt: new Date(), repeated: false });

/** Rules whose trace is stored once `stored` is called, or not at all. */
function rulesThat(decision: 'warn' | 'block') {
  let [stored, failed]: (() => void)[] = [];
  const recorded = new Promise<void>((resolve, reject) => {
    stored = resolve;
    failed = () => reject(new Error('no space'));
  });
  const reasons = decision === 'block' ? [{ decision, reason: 'No.', source: 'policy' }] : [];
  const decideFirst = async () => ({ decision, reasons, warnings: [], recorded });
  const sources = { rules: { decideFirst }, attempts: {} } as unknown as LaunchRuleSources;
  return { sources, stored: () => stored?.(), failed: () => failed?.() };
}

/** What has happened, in its order. */
function follow() {
  const order: string[] = [];
  const note = (what: string) => () => void order.push(what);
  return { order, note };
}

describe('the trace of the decision about a launch', () => {
  it('is stored while the launch is recorded, and before that is acknowledged', async () => {
    const { sources, stored } = rulesThat('warn');
    const { order, note } = follow();
    await runOperation(operation(), async () => {
      await ruleOnLaunch(sources, launch, {});
      note('recorded')();
      setImmediate(() => {
        note('stored')();
        stored();
      });
    }).then(note('acknowledged'));
    expect(order).toEqual(['recorded', 'stored', 'acknowledged']);
  });

  it('fails the launch when it cannot be stored', async () => {
    const { sources, failed } = rulesThat('warn');
    const launched = runOperation(operation(), async () => {
      await ruleOnLaunch(sources, launch, {});
      setImmediate(failed);
    });
    await expect(launched).rejects.toThrow('no space');
  });

  it.each([
    ['a refusal', 'block', true],
    ['what no operation acknowledges', 'warn', false],
  ] as const)('is stored before %s', async (_what, decision, isOperation) => {
    const { sources, stored } = rulesThat(decision);
    const { order, note } = follow();
    setImmediate(() => {
      note('stored')();
      stored();
    });
    const rule = () => ruleOnLaunch(sources, launch, {}).then(note('ruled'));
    await (isOperation ? runOperation(operation(), rule) : rule());
    expect(order).toEqual(['stored', 'ruled']);
  });
});
