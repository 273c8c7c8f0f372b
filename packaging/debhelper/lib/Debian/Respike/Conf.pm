package Debian::Respike::Conf;

# What dh_respike and dh_respike_train share: debian/respike.conf, and calls of respike.
use strict;
use warnings;

use Debian::Debhelper::Dh_Lib qw(%dh doit error is_udeb tmpdir);
use Dpkg::Control::HashCore;
use File::Find qw(find);

use Exporter qw(import);
our @EXPORT = qw(read_conf files_of in_packages respike skipped $PROFILES $WORK);

our $PROFILES = 'debian/respike.profiles';
our $WORK = 'debian/.debhelper/respike';

my %FIELDS = map { $_ => 1 } qw(Images Train-Images Train Optimize-Options);

# The fields of debian/respike.conf.
sub read_conf {
	my $file = 'debian/respike.conf';
	error("there is no $file: it names the images to optimize, see dh_respike(1)") unless -f $file;
	my $conf = Dpkg::Control::HashCore->new(drop_empty => 1);
	$conf->load($file);
	for my $name (keys %$conf) {
		error("$file: there is no field $name, but " . join(', ', sort keys %FIELDS)) unless $FIELDS{$name};
	}
	error("$file names no Images:") unless defined $conf->{Images};
	return $conf;
}

# The files below a folder that match patterns, separated by white space, without links; each pattern matches at least
# one file.
sub files_of {
	my ($folder, $patterns) = @_;
	my (@files, %seen);
	for my $pattern (split ' ', $patterns) {
		$pattern =~ s{^/+}{};
		my @found = grep { -f && !-l } glob("$folder/$pattern");
		error("debian/respike.conf: there is no file $pattern below $folder") unless @found;
		push(@files, grep { !$seen{$_}++ } @found);
	}
	return @files;
}

# Calls a function for each file (not for links) in the packages that are built: its path, and its path in the package.
sub in_packages {
	my ($function) = @_;
	for my $package (@{$dh{DOPACKAGES}}) {
		my $folder = tmpdir($package);
		next if !-d $folder || is_udeb($package);
		find({no_chdir => 1, wanted => sub {
			my $file = $File::Find::name;
			$function->($file, substr($file, length $folder)) if -f $file && !-l $file;
		}}, $folder);
	}
	return;
}

# Runs a command of respike in a database of the build; messages of the build show it.
sub respike {
	my ($database, @words) = @_;
	doit($ENV{RESPIKE} // 'respike', '--db', "$WORK/$database.db", @words);
	return;
}

# Whether DEB_BUILD_OPTIONS switch Respike off for this build.
sub skipped {
	return ($ENV{DEB_BUILD_OPTIONS} // '') =~ /\bnorespike\b/;
}

1;
