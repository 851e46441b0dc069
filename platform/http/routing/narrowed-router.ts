import { Router, type RouterMiddleware } from '@koa/router';

type Match = ReturnType<Router['match']>;

/** The segments of a path by which routes are distinguished before their patterns are tried. */
const leading = 3;
/** Enough for every combination that requests have in practice; callers can make up more. */
const mostGroups = 2_000;

const anySegment = '';

const segmentsOf = (path: string): string[] => path.replace(/\/$/, '').split('/').slice(1);

/** Whether the pattern is of fixed segments and of parameters of one segment each. */
const isPlain = (path: unknown): path is string => typeof path === 'string' && !/[*{}()\\?+]/.test(path);

/** Whether a route may match paths with so many segments and with these first ones. */
function mayMatch(pattern: string, count: number, first: readonly string[]): boolean {
  const segments = segmentsOf(pattern);
  return (
    segments.length === count &&
    first.every((segment, at) => {
      const own = segments[at];
      return own === undefined || own.startsWith(':') || own === segment;
    })
  );
}

/**
 * A router that tries the pattern of a route only for paths with as many segments and the same fixed ones in the beginning:
 * trying those of hundreds of routes takes longer than many a request. It matches as it would otherwise; one form of each path is
 * served, another letter case is another path. Of the routes that match, the first handler serves the request: none of them passes it on,
 * and a router would compose all of them for each request.
 */
export function narrowedRouter<State>(): Router<State> {
  const router = new Router<State>({ sensitive: true });
  const groups = new Map<string, { match: (path: string, method: string) => Match }>();
  /** The fixed segments that any route has at each of the first positions. */
  let fixed: Set<string>[] = [];
  let known = 0;

  function learn(): void {
    const patterns = router.stack.map(({ path }) => path as unknown).filter(isPlain);
    fixed = Array.from({ length: leading }, (_, at) => {
      const segments = patterns.flatMap((path) => segmentsOf(path)[at] ?? []);
      return new Set(segments.filter((segment) => !segment.startsWith(':')));
    });
    groups.clear();
    known = router.stack.length;
  }

  router.match = (path, method) => {
    if (known !== router.stack.length) {
      learn();
    }
    const segments = segmentsOf(path);
    const first = segments.slice(0, leading).map((segment, at) => (fixed[at]?.has(segment) ? segment : anySegment));
    const key = `${segments.length} ${first.join('/')}`;
    let group = groups.get(key);
    if (!group) {
      if (groups.size >= mostGroups) {
        groups.clear();
      }
      const narrow = new Router<State>({ sensitive: true });
      narrow.stack = router.stack.filter(({ path: pattern }) => {
        const own: unknown = pattern;
        return !isPlain(own) || mayMatch(own, segments.length, first);
      });
      group = narrow;
      groups.set(key, group);
    }
    return group.match(path, method);
  };

  const serve: RouterMiddleware<State> = (ctx, next) => {
    const { path } = ctx;
    const match = router.match(path, ctx.method);
    const route = match.pathAndMethod.find(({ methods }) => methods.length > 0);
    const handle = route?.stack[0];
    ctx.matched = match.path as typeof ctx.matched;
    if (!route || !handle) {
      return next();
    }
    ctx.params = ctx.request.params = route.params(path, route.captures(path));
    ctx._matchedRoute = route.path;
    return (handle as (context: typeof ctx, rest: typeof next) => Promise<unknown>)(ctx, next);
  };
  router.routes = () => serve as ReturnType<typeof router.routes>;
  return router;
}
