import { phaseAuthority } from '../phases/table';
import { classify } from './command-class';
import { decideTool, openRules, type ToolRules, type ToolUse } from './rules';

test.each([
  ['ls -la src', 'inspect'],
  ['git status', 'inspect'],
  ['git log --oneline', 'inspect'],
  ['grep -rn word src', 'inspect'],
  ['rg word', 'inspect'],
  ['git diff --output=x', 'mutate'],
  ['git diff --no-index a b', 'mutate'],
  ['git -c core.pager=x status', 'mutate'],
  ['git commit -m x', 'mutate'],
  ['git push', 'publish'],
  ['grep -R word .', 'mutate'],
  ['find . -delete', 'mutate'],
  ['find . -exec rm {} ;', 'mutate'],
  ['rg --pre=x word', 'mutate'],
  ['cat /etc/passwd', 'mutate'],
  ['cat ../x', 'mutate'],
  ['cat a/../../x', 'mutate'],
  ['grep -f/etc/passwd x', 'mutate'],
  ['./ls', 'mutate'],
  ['/usr/bin/ls', 'mutate'],
  ['constructor', 'mutate'],
  ['npm test', 'test'],
  ['npm run build', 'build'],
  ['npx prettier --write .', 'format'],
  ['npm publish', 'publish'],
  ['sh -c ls', 'mutate'],
] as const)('the command %j is one of %s', (line, expected) => {
  const [name = '', ...args] = line.split(' ');
  expect(classify({ name, args })).toBe(expected);
});

const rules = (fields: Partial<ToolRules> = {}): ToolRules => ({ ...openRules('/w'), ...fields });
const use = (fields: Partial<ToolUse>): ToolUse => ({ kind: null, names: [], ...fields });
const verdict = (given: ToolRules, asked: Partial<ToolUse>) => {
  const found = decideTool(given, use(asked));
  return found.verdict === 'deny' ? found.rule : found.verdict;
};

describe('a use of a tool', () => {
  test('that nothing forbids is allowed', () => {
    for (const kind of ['read', 'edit', 'execute', 'fetch', 'think', null]) {
      expect(verdict(rules(), { kind })).toBe('allow');
    }
  });

  test('that does not report what it is about is denied where anything is', () => {
    const preset = rules({ deniedPaths: ['secrets'] });
    for (const kind of ['read', 'edit', 'execute', null, 'dance']) {
      expect(verdict(preset, { kind })).not.toBe('allow');
    }
    expect(verdict(preset, { kind: 'search', paths: ['.'] })).toBe('sandbox');
    expect(verdict(preset, { kind: 'search', paths: ['src'] })).toBe('allow');
    expect(verdict(preset, { kind: 'delete', paths: ['secrets'] })).toBe('sandbox');
    expect(verdict(rules({ deniedPaths: ['src/**/*.pem'] }), { kind: 'move', paths: ['src'] })).toBe('sandbox');
  });

  test('counts by every one of its names', () => {
    const allowed = rules({ tools: { allowed: ['read', 'fs/write_text_file'], denied: [] } });
    expect(verdict(allowed, { kind: 'edit', names: ['fs/write_text_file'], paths: ['a'] })).toBe('allow');
    expect(verdict(allowed, { kind: 'edit', names: ['patch'], paths: ['a'] })).toBe('tools');
    expect(verdict(rules({ permissions: ['network.egress'] }), { kind: 'edit', paths: ['a'] })).toBe('allow');
    expect(verdict(rules({ permissions: ['read'] }), { kind: 'edit', paths: ['a'] })).toBe('permissions');
  });

  test('outside the worktree is for phases that read everything', () => {
    const exploring = rules({ authority: phaseAuthority('explore'), effects: [] });
    expect(verdict(exploring, { kind: 'read', paths: [null] })).toBe('phase');
    expect(verdict(rules(), { kind: 'read', paths: [null] })).toBe('allow');
    expect(verdict(exploring, { kind: 'fetch', host: 'a.example' })).toBe('phase');
  });

  test('asks for what a phase wants an approval of', () => {
    const authority = {
      ...phaseAuthority('implement'),
      'filesystem.write': { scopes: ['workspace'], approval: ['workspace'] },
    };
    expect(verdict(rules({ authority }), { kind: 'edit', paths: ['a'] })).toBe('ask');
    expect(verdict(rules({ authority }), { kind: 'read', paths: ['a'] })).toBe('allow');
  });
});
