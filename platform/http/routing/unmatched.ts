import type { RouterContext } from '@koa/router';
import { AppError } from '../../errors/app-error';
import type { HttpMiddleware } from '../context';

/** The response to a request that no route matched: 404, or 405 and 204 (OPTIONS) with `Allow` where the path exists. */
export const unmatched = (): HttpMiddleware => (ctx) => {
  const layers = (ctx as Partial<Pick<RouterContext, 'matched'>>).matched ?? [];
  const methods = [...new Set(layers.flatMap((layer) => layer.methods))].sort();
  if (methods.length === 0) {
    throw new AppError('NOT_FOUND', {
      status: 404,
      message: 'No route exists at this path.',
      details: { path: `${ctx.state.profile?.prefix ?? ''}${ctx.path}`.slice(0, 300) },
    });
  }
  ctx.set('Allow', [...methods, 'OPTIONS'].join(', '));
  if (ctx.method !== 'OPTIONS') {
    throw new AppError('METHOD_NOT_ALLOWED', {
      status: 405,
      message: `This path does not support ${ctx.method}.`,
      details: { allowed: methods },
    });
  }
  ctx.status = 204;
};
