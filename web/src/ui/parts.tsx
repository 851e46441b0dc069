import type { ReactNode } from 'react';
import { explain } from '../api/client';
import { Button } from './button';
import { shortId } from './figures';
import { Icon, type IconName } from './icon';
import { toast, type Tone } from './toast';

export function Badge({
  tone = 'grey',
  icon,
  children,
  title,
}: {
  tone?: Tone;
  icon?: IconName;
  children: ReactNode;
  title?: string;
}) {
  return (
    <span className={`badge ${tone}`} title={title}>
      {icon ? <Icon name={icon} size={13} /> : null}
      {children}
    </span>
  );
}

/** An id in its short form, which is copied as a whole. */
export function Id({ id, short = true }: { id: string; short?: boolean }) {
  const copy = () => {
    void navigator.clipboard.writeText(id).then(() => toast(`Copied ${id}`));
  };
  return (
    <button type="button" className="id" title={`Copy ${id}`} onClick={copy}>
      {short ? shortId(id) : id}
    </button>
  );
}

/** What stands where there is nothing yet, with the next thing to do. */
export function Empty({ icon, title, children }: { icon: IconName; title: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <Icon name={icon} size={28} />
      <strong>{title}</strong>
      {children}
    </div>
  );
}

export function Problem({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  return (
    <div className="problem" role="alert">
      <Icon name="alert" />
      <span className="grow">{explain(error)}</span>
      {onRetry ? (
        <Button small onClick={onRetry}>
          Try again
        </Button>
      ) : null}
    </div>
  );
}

export function Loading({ what }: { what: string }) {
  return (
    <div className="empty" role="status">
      <Icon name="spinner" size={20} />
      <span>Loading {what} …</span>
    </div>
  );
}

interface ReadableQuery<T> {
  data: T | undefined;
  error: unknown;
  refetch: () => unknown;
}

/** Shows what a query has read, that it is under way, or why it failed. */
export function Loaded<T>({
  query,
  what,
  children,
}: {
  query: ReadableQuery<T>;
  what: string;
  children: (data: T) => ReactNode;
}) {
  if (query.data !== undefined) {
    return <>{children(query.data)}</>;
  }
  if (query.error !== null && query.error !== undefined) {
    return <Problem error={query.error} onRetry={() => void query.refetch()} />;
  }
  return <Loading what={what} />;
}

/** A part of a view with its title. */
export function Panel({
  title,
  actions,
  children,
  flush,
}: {
  title: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
  flush?: boolean;
}) {
  return (
    <section className="panel">
      <header>
        <h2 className="grow">{title}</h2>
        {actions}
      </header>
      <div className={flush === true ? undefined : 'body'}>{children}</div>
    </section>
  );
}

/** Facts as names and values. */
export function Kbd({ children }: { children: string }) {
  return <kbd className="kbd">{children}</kbd>;
}
