import { watcherQuestion } from '../../contracts/governance/watcher-policy';
import type { WatcherSettings } from '../../contracts/settings/settings';
import { decideContinuation } from './watcher-policy';

const on: WatcherSettings = {
  ...{ enabled: true, globalKillSwitch: false, defaultMode: 'auto' },
  ...{ maxContinuationsPerRun: 3, spendCapUsd: 5, continueRuns: false },
};
const decide = (question: object, settings: Partial<WatcherSettings> = {}) =>
  decideContinuation({ ...on, ...settings }, watcherQuestion.parse({ runId: 'attempt_1', ...question }));

describe('watcher policy decision', () => {
  it.each([
    ['continuations are off', { enabled: false }, {}],
    ['the kill switch is on', { globalKillSwitch: true }, {}],
    ['the run went on as often as it may', {}, { continuationCount: 3 }],
    ['the money is spent', {}, { monthlySpendUsd: 5 }],
  ])('is blocked when %s', (_case, settings, question) => {
    expect(decide(question, settings).decision).toBe('blocked');
  });

  it.each<[WatcherSettings['defaultMode'], object, string, string]>([
    ['ask_always', {}, 'approval', 'low'],
    ['ask_on_risk', {}, 'allow', 'low'],
    ['ask_on_risk', { hasRecentTestFailures: true }, 'approval', 'medium'],
    ['ask_on_risk', { recentProviderErrors: 1 }, 'approval', 'medium'],
    ['auto', { hasRecentTestFailures: true }, 'allow', 'medium'],
    ['auto', { prompt: 'then rm -rf /' }, 'approval', 'high'],
    ['auto', { prompt: 'use the API_KEY' }, 'approval', 'high'],
    ['auto', { continuationCount: 2, monthlySpendUsd: 4.99 }, 'allow', 'low'],
  ])('%s, %p: %s, %s', (defaultMode, question, decision, riskLevel) => {
    expect(decide(question, { defaultMode })).toMatchObject({ decision, riskLevel, mode: defaultMode });
  });

  it.each(['rm -fr x', 'git push origin main --force', 'git reset --hard', 'DROP TABLE users', 'mkfs.ext4 /dev/sda'])(
    'sees what %s does',
    (prompt) => {
      expect(decide({ prompt }).riskClasses).toEqual(['destructive_command']);
    },
  );

  it('reports nothing of the prompt', () => {
    const answer = decide({ prompt: 'rm -rf /home/ada; password hunter2' });
    expect(answer.riskClasses).toEqual(['destructive_command', 'credential_reference']);
    expect(JSON.stringify(answer)).not.toMatch(/ada|hunter2/);
  });
});
