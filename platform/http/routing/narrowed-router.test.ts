import { Router } from '@koa/router';
import fc from 'fast-check';
import { narrowedRouter } from './narrowed-router';

const segment = fc.constantFrom('api', 'tasks', 'runs', 'a', 'A', '%61', 'counts', '', ':x');
const pattern = fc
  .array(fc.constantFrom('api', 'tasks', 'runs', 'a', ':one', ':two', 'counts'), { minLength: 1, maxLength: 5 })
  // A name may be there once.
  .map((parts) => `/${parts.map((part, at) => (part.startsWith(':') ? `:p${at}` : part)).join('/')}`);
const special = fc.constantFrom('/files/*rest', '/tasks{/:id}', /^\/a/);
const method = fc.constantFrom('get' as const, 'post' as const, 'delete' as const);
const requested = fc.array(segment, { maxLength: 6 }).map((parts) => `/${parts.join('/')}`);

const noop = (): void => undefined;

describe('narrowed router', () => {
  it('matches the routes that the router matches which tries all of them', () => {
    const routes = fc.array(fc.tuple(method, fc.oneof({ weight: 5, arbitrary: pattern }, special)), { maxLength: 12 });
    let matches = 0;
    fc.assert(
      fc.property(routes, fc.array(fc.tuple(requested, method), { maxLength: 10 }), (added, requests) => {
        const [narrowed, plain] = [narrowedRouter(), new Router({ sensitive: true })];
        for (const [how, path] of added) {
          narrowed[how](path, noop);
          plain[how](path, noop);
        }
        for (const [path, how] of requests) {
          const paths = ({ match }: { match: ReturnType<Router['match']> }) => ({
            path: match.path.map((layer) => [layer.methods, layer.path]),
            pathAndMethod: match.pathAndMethod.map((layer) => [layer.methods, layer.path]),
            route: match.route,
          });
          const expected = paths({ match: plain.match(path, how) });
          expect(paths({ match: narrowed.match(path, how) })).toEqual(expected);
          matches += expected.path.length;
        }
      }),
      { numRuns: 2_000 },
    );
    expect(matches).toBeGreaterThan(200);
  });

  it('matches routes that are added after the first request', () => {
    const router = narrowedRouter();
    router.get('/tasks/:id', noop);
    expect(router.match('/tasks/counts', 'get').path).toHaveLength(1);
    router.get('/tasks/counts', noop);
    expect(router.match('/tasks/counts', 'get').path).toHaveLength(2);
  });

  it('serves a request with the first handler that matches, and passes others on', async () => {
    const router = narrowedRouter();
    const served: unknown[] = [];
    router.get('/tasks/counts', () => void served.push('counts'));
    router.get('/tasks/:id', (ctx) => void served.push(ctx.params));
    const app = router.routes();
    const request = async (method: string, path: string): Promise<Record<string, unknown>> => {
      const ctx = { method, path, request: {} } as Record<string, unknown>;
      await app(ctx as never, () => Promise.resolve(served.push('passed on')));
      return ctx;
    };
    expect(await request('GET', '/tasks/counts')).toMatchObject({ _matchedRoute: '/tasks/counts', params: {} });
    expect(await request('HEAD', '/tasks/a%20b')).toMatchObject({ request: { params: { id: 'a b' } } });
    const { matched, ...refused } = await request('POST', '/tasks/a');
    expect(matched).toHaveLength(1);
    expect(refused).not.toHaveProperty('_matchedRoute');
    await request('GET', '/other');
    expect(served).toEqual(['counts', { id: 'a b' }, 'passed on', 'passed on']);
  });
});
