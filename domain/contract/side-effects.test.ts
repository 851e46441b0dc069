import { posix } from 'node:path';
import fc from 'fast-check';
import { type SandboxPreset, sandboxPresetUpdate } from '../../contracts/settings/sandbox';
import { runtimeManifest } from '../capabilities';
import { clampToWorktree, isWithin } from './path-scope';
import { effectiveSideEffects, type Posture } from './side-effects';

const at = '2026-01-01T00:00:00.000Z';
const runtime = runtimeManifest('process', { ok: true, diagnostics: [] }, { probedAt: at });
const worktreePath = '/srv/worktrees/t1';
const preset = (fields: object): SandboxPreset => ({
  id: 'tight',
  revision: 1,
  createdAt: at,
  updatedAt: at,
  ...sandboxPresetUpdate.parse({ name: 'Tight', ...fields }),
});
const effects = (fields: Partial<Posture>) =>
  effectiveSideEffects({ allowed: null, commitPolicy: 'allowed', sandbox: null, runtime, worktreePath, ...fields });
const scopes = (kind: string, fields: Partial<Posture>) =>
  effects(fields)
    .filter((effect) => effect.kind === kind)
    .map(({ scope }) => scope);

describe('allowed side effects', () => {
  test.each([
    ['*', '.'],
    ['workspace', '.'],
    ['/', '.'],
    ['/**', '.'],
    ['/srv', '.'],
    ['/srv/worktrees/t1', '.'],
    ['/srv/worktrees/t1/src/**', 'src'],
    ['src/', 'src'],
    ['src/**', 'src'],
    ['./src/../docs', 'docs'],
    ['..', '.'],
    ['../..', '.'],
    ['src/../../..', '.'],
    ['../t2', undefined],
    ['src/../../t2', undefined],
    ['/etc', undefined],
    ['/srv/worktrees/t10', undefined],
  ])('the path scope %s in the worktree is %s', (scope, expected) => {
    expect(clampToWorktree(scope, worktreePath)).toBe(expected);
  });

  test('no path scope reaches outside the worktree', () => {
    const part = fc.constantFrom('..', '.', 'src', 'srv', 'worktrees', 't1', 't10', '*', '**', '', 'é');
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), fc.boolean(), (parts, absolute) => {
        const scope = `${absolute ? '/' : ''}${parts.join('/')}`;
        const clamped = clampToWorktree(scope, worktreePath);
        if (clamped === undefined) {
          return;
        }
        const reached = posix.resolve(worktreePath, clamped);
        expect(reached === worktreePath || reached.startsWith(`${worktreePath}/`)).toBe(true);
      }),
    );
  });

  test('a task that reports nothing allows everything inside', () => {
    expect(effects({}).map(({ kind }) => kind)).toHaveLength(7);
  });

  test('a task that reports something allows no more than that', () => {
    expect(effects({ allowed: [{ kind: 'filesystem-write', scope: '/' }] })).toEqual([
      { kind: 'filesystem-write', scope: '.' },
    ]);
    expect(effects({ allowed: [] })).toEqual([]);
  });

  test('a forbidden commit is no allowed effect', () => {
    expect(scopes('git-commit', { commitPolicy: 'forbidden' })).toEqual([]);
    expect(scopes('git-commit', { commitPolicy: 'required' })).toEqual(['*']);
  });

  test('the sandbox narrows what the task allows, and the other way round', () => {
    const sandbox = preset({ filesystem: { writePaths: ['src', '/etc'] }, network: { defaultEgress: 'deny' } });
    expect(scopes('filesystem-write', { sandbox })).toEqual(['src']);
    expect(scopes('filesystem-write', { sandbox, allowed: [{ kind: 'filesystem-write', scope: 'src/a' }] })).toEqual([
      'src/a',
    ]);
    expect(scopes('filesystem-write', { sandbox, allowed: [{ kind: 'filesystem-write', scope: 'docs' }] })).toEqual([]);
    expect(scopes('network-egress', { sandbox })).toEqual([]);
    const hosts = preset({ network: { defaultEgress: 'deny', allowedHosts: ['example.org'] } });
    expect(scopes('network-egress', { sandbox: hosts })).toEqual(['example.org']);
    expect(
      scopes('network-egress', { sandbox: hosts, allowed: [{ kind: 'network-egress', scope: 'other.org' }] }),
    ).toEqual([]);
  });

  test('a runtime that cannot write allows no writes', () => {
    const capabilities = runtime.capabilities.map((capability) =>
      capability.id === 'filesystem.write' ? { ...capability, state: 'unsupported' as const } : capability,
    );
    expect(scopes('filesystem-write', { runtime: { ...runtime, capabilities } })).toEqual([]);
  });

  test('what lies in a scope', () => {
    expect([isWithin('a/b', '.'), isWithin('a/b', 'a'), isWithin('a', 'a'), isWithin('ab', 'a')]).toEqual([
      true,
      true,
      true,
      false,
    ]);
  });
});
