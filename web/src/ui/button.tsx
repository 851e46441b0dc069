import type { ComponentProps } from 'react';
import { Icon, type IconName } from './icon';

interface ButtonProps extends ComponentProps<'button'> {
  icon?: IconName;
  tone?: 'primary' | 'danger' | 'plain';
  small?: boolean;
  busy?: boolean;
  /** Why it cannot be pressed; it stays readable by keyboard and pointer. */
  why?: string | undefined;
}

export function Button({ icon, tone, small, busy, why, children, className, ...rest }: ButtonProps) {
  const classes = ['button', tone, small ? 'small' : undefined, className].filter(Boolean).join(' ');
  return (
    <button
      type="button"
      {...rest}
      className={classes}
      disabled={rest.disabled === true || busy === true || why !== undefined}
      title={why ?? rest.title}
      aria-busy={busy === true ? true : undefined}
    >
      {busy === true ? <Icon name="spinner" /> : icon ? <Icon name={icon} /> : null}
      {children}
    </button>
  );
}

interface IconButtonProps extends ComponentProps<'button'> {
  icon: IconName;
  label: string;
  small?: boolean;
}

export function IconButton({ icon, label, small, className, ...rest }: IconButtonProps) {
  const classes = ['button', 'plain', 'icon', small ? 'small' : undefined, className].filter(Boolean).join(' ');
  return (
    <button type="button" title={label} aria-label={label} {...rest} className={classes}>
      <Icon name={icon} />
    </button>
  );
}
