" What Vim reads first in a command of the shell tool (VIMINIT). Nobody can type there: a Vim that has done what its
" arguments say and still runs would wait for a key for ever, so it says so and ends. `vim -c wq`, `vim -es` and keys
" from a pipe work as always. The person's own start file is read, as it would be without VIMINIT.
if 1
  let s:config = empty($XDG_CONFIG_HOME) ? '~/.config' : $XDG_CONFIG_HOME
  let s:files = ['~/.vimrc', '~/.vim/vimrc', s:config . '/vim/vimrc', '$VIMRUNTIME/defaults.vim']
  if has('nvim')
    let s:files = [stdpath('config') . '/init.lua', stdpath('config') . '/init.vim']
  endif

  function! s:End() abort
    silent !echo "vim: nobody can type here; use the edit tool or sed, or end it: vim -es -c COMMAND -c wq FILE" >&2
    cquit
  endfunction
  " Asked now: at the end of its input Vim puts standard error into the place of it. Neovim ends there by itself.
  if resolve('/dev/fd/0') =~# '^/dev/\%(null\|fd/0\)$' && !has('nvim')
    autocmd VimEnter * if mode(1) !~# '^c[ve]' | call s:End() | endif
  endif

  for s:file in s:files
    if filereadable(expand(s:file))
      execute 'source' fnameescape(expand(s:file))
      break
    endif
  endfor
  finish
endif
" The smallest Vim knows no conditions: it ends even when its arguments would have ended it.
silent !echo "vim: nobody can type here; use the edit tool or sed, or vim -es -c COMMAND -c wq FILE" >&2
cquit
