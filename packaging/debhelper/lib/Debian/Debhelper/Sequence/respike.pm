# dh's sequence `respike`: links with --emit-relocs, trains if the source package has no profile, and optimizes the images
# that debian/respike.conf names, before they are stripped. See dh_respike(1).
use strict;
use warnings;

use Debian::Respike::Conf qw(skipped);

# The first is for tools that ask dpkg-buildflags again; dh itself has already asked.
for my $variable (skipped() ? () : ('DEB_LDFLAGS_APPEND', 'LDFLAGS')) {
	my $flags = $ENV{$variable} // '';
	$ENV{$variable} = join(' ', $flags || (), '-Wl,--emit-relocs') unless $flags =~ /-Wl,(-q|--emit-relocs)/;
}

insert_after('dh_auto_test', 'dh_respike_train');
# After dh_dwz: dwz 0.15 ends by an assertion on debug information in which calls refer to another unit.
insert_before('dh_strip', 'dh_respike');

1;
