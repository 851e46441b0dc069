import type { WatcherQuestion, WatcherRisk } from '../../contracts/governance/watcher-policy';

/** Signs of risk in a prompt; named, so that evidence needs no text of the prompt. */
const patterns: readonly { risk: WatcherRisk; name: string; pattern: RegExp }[] = [
  { risk: 'destructive_command', name: 'recursive removal', pattern: /\brm\s+-\w*[rf]/i },
  { risk: 'destructive_command', name: 'forced push', pattern: /\bgit\s+push\b[^\n]{0,200}\s(?:--force|-f)\b/i },
  { risk: 'destructive_command', name: 'hard reset', pattern: /\bgit\s+reset\s+--hard\b/i },
  { risk: 'destructive_command', name: 'removal of tables', pattern: /\b(?:drop|truncate)\s+(?:table|database)\b/i },
  { risk: 'destructive_command', name: 'writing to a disk', pattern: /\b(?:mkfs(?:\.\w+)?|dd\s+if=)/i },
  { risk: 'credential_reference', name: 'private key', pattern: /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----/ },
  {
    risk: 'credential_reference',
    name: 'name of a secret',
    pattern: /(?:api[_-]?key|access[_-]?token|secret|password|credential)s?\b/i,
  },
];

export interface SeenRisk {
  risk: WatcherRisk;
  evidence: string;
}

/** What speaks against a continuation of a run by itself, apart from its caps. */
export const risksOf = ({ prompt, hasRecentTestFailures, recentProviderErrors }: WatcherQuestion): SeenRisk[] => [
  ...patterns
    .filter(({ pattern }) => pattern.test(prompt))
    .map(({ risk, name }) => ({ risk, evidence: `The prompt has a ${name}.` })),
  ...(hasRecentTestFailures ? [{ risk: 'recent_test_failure' as const, evidence: 'Tests failed recently.' }] : []),
  ...(recentProviderErrors > 0
    ? [{ risk: 'provider_error' as const, evidence: `Recent errors of the provider: ${recentProviderErrors}.` }]
    : []),
];
