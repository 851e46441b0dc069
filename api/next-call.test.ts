import { z } from 'zod';
import { AppError } from '../platform/errors/app-error';
import type { HttpContext } from '../platform/http/context';
import type { RouteContract } from '../platform/http/routing/route-contract';
import { createNextCalls } from './next-call';

const id = z.string().regex(/^[\w-]+$/);

const contract = (method: RouteContract['method'], path: string): RouteContract => ({
  method,
  path,
  operationId: `${method} ${path}`,
  summary: '',
  tag: '',
  permission: 'task:read',
  response: z.unknown(),
  params: z.object(Object.fromEntries([...path.matchAll(/:(\w+)/g)].map(([, name = '']) => [name, id]))),
});

const nextCall = createNextCalls([
  contract('post', '/agents/:taskId/start'),
  contract('post', '/agents/:taskId/stop'),
  contract('get', '/agents/:taskId/status'),
  contract('get', '/run-approvals/:approvalId'),
  contract('get', '/policies'),
  contract('get', '/policies/:id'),
  contract('post', '/policies'),
]);

const refusal = (code: string, details: Record<string, unknown>) =>
  new AppError(code, { status: 409, message: 'No.', details });

const request = (method: string, route: string | undefined, params: Record<string, string> = {}) =>
  ({ method, _matchedRoute: route, params }) as unknown as HttpContext;

const start = (taskId: string) => request('POST', '/api/agents/:taskId/start', { taskId });

describe('createNextCalls', () => {
  it('takes parameters from the details, or from the request', () => {
    expect(nextCall(refusal('RUN_ACTIVE', { attemptId: 'a1' }), start('t1'))).toEqual({
      method: 'POST',
      path: '/api/agents/t1/stop',
      remedy: 'Stop the active attempt, or wait for its end.',
    });
    const approval = refusal('APPROVAL_NOT_GIVEN', { current: { id: 'approval_1' } });
    expect(nextCall(approval, start('t1'))).toMatchObject({ method: 'GET', path: '/api/run-approvals/approval_1' });
  });

  it('takes the first step whose condition holds', () => {
    expect(nextCall(refusal('RUN_ACTIVE', {}), start('t1'))?.path).toBe('/api/agents/t1/status');
  });

  it.each(['../../admin', 'a/b', 'a?b=c', '', '\ud800', 1, null, { id: 'a' }, ['a']])(
    'makes no path of the id %j',
    (value) => {
      const approval = refusal('APPROVAL_NOT_GIVEN', { approvalId: value });
      expect(nextCall(approval, start('t1'))).toBeUndefined();
    },
  );

  it('reads what the details themselves have, and nothing of their prototype', () => {
    const approval = refusal('APPROVAL_NOT_GIVEN', Object.create({ approvalId: 'approval_1' }));
    expect(nextCall(approval, start('t1'))).toBeUndefined();
    expect(nextCall(refusal('constructor', {}), start('t1'))).toBeUndefined();
  });

  it('names no operation that is not served', () => {
    expect(nextCall(refusal('WORKTREE_BUSY', {}), start('t1'))).toBeUndefined();
  });

  it('reads the record that is taken, else the list', () => {
    const create = request('POST', '/api/policies');
    expect(nextCall(refusal('CONFLICT', { resourceId: 'p1' }), create)?.path).toBe('/api/policies/p1');
    expect(nextCall(refusal('CONFLICT', { resourceId: 'p/1' }), create)?.path).toBe('/api/policies');
    expect(nextCall(refusal('CONFLICT', {}), create)?.path).toBe('/api/policies');
  });

  it('has nothing to read for a request that reached no operation', () => {
    expect(nextCall(refusal('CONFLICT', {}), request('POST', undefined))).toBeUndefined();
  });
});
