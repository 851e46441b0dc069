/** `0` for a fixed segment and `1` for a parameter: `/tasks/:id/time` is `0010`. */
const shape = (path: string): string =>
  path
    .split('/')
    .map((segment) => (segment.startsWith(':') ? '1' : '0'))
    .join('');

/**
 * Orders route paths so that the first match is the most specific one: `/tasks/counts` before `/tasks/:taskId`,
 * segment by segment, whatever order the areas were added in.
 */
export function bySpecificity(a: string, b: string): number {
  const left = shape(a);
  const right = shape(b);
  if (left === right) {
    return 0;
  }
  return left < right ? -1 : 1;
}
