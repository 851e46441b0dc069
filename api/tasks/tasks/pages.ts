import type { TaskQuery } from '../../../contracts/tasks/task';

export interface Pagination {
  page: number;
  limit: number;
  total: number;
  totalPages: number;
}

const defaultLimit = 50;

/** Where a list is cut; `undefined` when the caller requested no pages. */
export function paginationOf({ page, limit }: TaskQuery, total: number): Pagination | undefined {
  if (page === undefined && limit === undefined) {
    return undefined;
  }
  const size = limit ?? defaultLimit;
  return { page: page ?? 1, limit: size, total, totalPages: Math.ceil(total / size) };
}

/** The `Link` header (RFC 8288) to the neighbours of a page. */
export function linkHeader(
  path: string,
  query: Record<string, string | number | string[] | undefined>,
  { page, limit, totalPages }: Pagination,
): string {
  const link = (target: number, relation: string): string => {
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries<string | number | string[] | undefined>({
      ...query,
      page: target,
      limit,
    })) {
      if (value !== undefined) {
        search.set(name, String(value));
      }
    }
    return `<${path}?${search.toString()}>; rel="${relation}"`;
  };
  const last = Math.max(1, totalPages);
  return [
    link(1, 'first'),
    ...(page > 1 ? [link(Math.min(page - 1, last), 'prev')] : []),
    ...(page < last ? [link(page + 1, 'next')] : []),
    link(last, 'last'),
  ].join(', ');
}
